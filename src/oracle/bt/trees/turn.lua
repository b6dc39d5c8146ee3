-- One turn: a request, its response, and what follows from it.
--
-- A branch ends the run with BT.exit("turns"). Reaching the bottom means another turn.

local turn = BT.leaves("oracle.bt.actions.turn")
local calls = BT.leaves("oracle.bt.actions.calls")
local model = BT.leaves("oracle.bt.actions.model_call")
local say = BT.leaves("oracle.bt.actions.say")
local tell = BT.leaves("oracle.bt.actions.tell")
local note = BT.leaves("oracle.bt.actions.note")
local finish = BT.leaves("oracle.bt.actions.finish")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local repeats = BT.leaves("oracle.bt.conditions.loop_detection")

local IDLE_TURNS = 3  -- from the third turn in a row that runs no call, whatever reason it gives
-- Turns since something new came. One that runs no call counts 3, one whose calls bring nothing new counts 1.
local STALL = { idle = 3, barren = 1 }
local STALLED = { stall = 9, every = 3 }
local SAME_REASON = 3 -- the third turn in a row for one reason is a loop: twice may be an honest second try
-- A call repeats with its second identical result, alone or in a cycle of calls (services/control/repetition.py).

BT.tree("turn", {
  root = BT.sequence("turn", {
    BT.subtree("budget"),
    turn.begin,

    -- The first two conditions stay live while the model streams. A cancellation needs none: it halts the whole tree.
    BT.selector("response", {
      BT.timeout("while time is left", {
        seconds = "seconds_left",
        BT.reactive_sequence("ask the model", {
          ledger.is_within_limits,
          BT.expect("text does not repeat itself", "not bb.is_runaway"),
          BT.subtree("request"),
        }),
      }),
      BT.sequence("response was cut short", {
        model.keep_what_arrived,
        BT.selector("go on or end", {
          BT.expect("text repeated itself", "bb.is_runaway"),
          BT.expect("resumed after a crash", "bb.response.is_interrupted"),
          ledger.only_the_last_answer_is_left, -- the next turn begins without tools
          BT.subtree("end in the middle of a turn"),
        }),
      }),
    }),

    turn.take_in_response, -- books its cost, notes its signal, adds it to the conversation, sets the time left
    calls.refuse_writes_done_before, -- before the decision: it is about the calls that are left to run
    BT.subtree("fallback"),
    say.pending_chunks,
    BT.subtree("decide"),
    BT.subtree("work"),

    BT.guard("resumed after a crash", { "bb.response.is_interrupted", tell.response_was_cut_off }),
    note.whether_the_turn_was_idle,
    note.whether_the_turn_brought_something(STALL),
    BT.always_succeed("going in circles", BT.sequence("step in", {
      BT.selector("something repeats", {
        repeats.refused_call_repeats,
        repeats.same_call_repeats,
        repeats.need_turn_repeats_its_reason { times = SAME_REASON },
        repeats.text_repeats,
        repeats.turns_are_idle { turns = IDLE_TURNS },
        repeats.nothing_new_comes(STALLED),
      }),
      BT.subtree("circles"),
    })),

    -- What a branch above has asked for with BT.later. Strategies come first, because one of them asks for coverage.
    BT.deferred("search first", BT.sequence("send it back", { note.doubt, tell.search_first })),
    BT.deferred("write first", BT.sequence("send it back to write", { note.doubt, tell.write_first })),
    BT.deferred("do what was announced", BT.sequence("send it back to work", { note.doubt, tell.do_what_was_announced })),
    BT.deferred("change strategy", BT.guard("tools are left", {
      "not bb.tools_withdrawn", -- without tools another strategy is of no use
      BT.subtree("strategies"),
    })),
    BT.deferred("cover every part", BT.sequence("cover them", {
      BT.subtree("coverage"),
      -- It is the last strategy. If the tree finds nothing either, the model would only search on.
      BT.guard("all ways were in vain", {
        "bb.strategies_tried > 0 and #bb.evidence == 0 and not bb.tools_withdrawn",
        BT.subtree("answer from what there is"),
      }),
    })),
    turn.close,
  }),
})

-- The model did not answer, or the tools took too long: keep what arrived, and say why the run ends here.
BT.tree("end in the middle of a turn", {
  root = BT.sequence("end in the middle of a turn", {
    finish.keep_cut_response,
    BT.selector("name the limit", {
      BT.sequence("tokens or money ran out", { BT.expect("budget is overdrawn", "bb.is_overdrawn"), finish.at_token_limit }),
      BT.sequence("time ran out", { ledger.time_is_up, finish.at_time_limit }),
      finish.model_unavailable,
    }),
    finish.end_cut_turn,
    BT.exit("turns"),
  }),
})
