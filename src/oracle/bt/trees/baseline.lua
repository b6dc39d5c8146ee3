-- A plain loop, to compare the tree of oracle-agent.lua with: one prompt, every tool in every request, and a model that
-- decides everything. A response without a tool call is the answer.
--
-- Its leaves are those of the other tree, so models, tools, records, events and the check of citations are the same, and
-- whatever differs between two runs is a matter of control. It is as good as such a loop can be: requests that do not fit
-- are made smaller, old results are shortened, limits are kept, and the last turn asks for the answer.
-- Its root is in oracle-agent.lua. It has no classes of questions, no signals, no check of evidence, no reserve and no ladder.

local budget = BT.leaves("oracle.bt.actions.budget")
local turn = BT.leaves("oracle.bt.actions.turn")
local model = BT.leaves("oracle.bt.actions.model_call")
local calls = BT.leaves("oracle.bt.actions.calls")
local grant = BT.leaves("oracle.bt.actions.grants")
local tell = BT.leaves("oracle.bt.actions.tell")
local note = BT.leaves("oracle.bt.actions.note")
local finish = BT.leaves("oracle.bt.actions.finish")
local reply = BT.leaves("oracle.bt.conditions.reply")
local ledger = BT.leaves("oracle.bt.conditions.budget")

local EMPTY_RESPONSES = 2  -- the 3rd empty response ends the run, as with the other tree

BT.tree("plain turn", {
  root = BT.sequence("plain turn", {
    budget.weigh_messages,
    BT.guard("messages fill half of the window", { ledger.context_is_large, budget.compact }),
    BT.subtree("make it fit"),
    BT.guard("no request can be paid", {
      ledger.is_exhausted,
      BT.sequence("end at the limit", { finish.at_limit, BT.exit("turns") }),
    }),
    BT.guard("one turn is left", {
      "bb.ledger.turns + 1 >= bb.limits.turns and not bb.tools_withdrawn",
      BT.sequence("ask for the answer", { grant.withdraw_all { stop = "turn_limit" }, tell.answer_now }),
    }),
    turn.begin,

    BT.selector("response", {
      BT.timeout("while time is left", {
        seconds = "seconds_left",
        BT.reactive_sequence("ask the model", { ledger.is_within_limits, BT.subtree("request") }),
      }),
      BT.sequence("response was cut short", {
        model.keep_what_arrived,
        BT.selector("go on or end", {
          BT.expect("resumed after a crash", "bb.response.is_interrupted"),
          BT.subtree("end in the middle of a turn"),
        }),
      }),
    }),
    turn.take_in_response,

    BT.selector("answer or calls", {
      BT.sequence("calls", {
        reply.has_calls,
        BT.expect("tools are there", "not bb.is_last_turn"),
        BT.subtree("run all calls"),
      }),
      BT.expect("resumed after a crash", "bb.response.is_interrupted"), -- half an answer is none
      BT.sequence("nothing was said", {
        BT.invert("no text", reply.has_text),
        BT.expect("did not end early", "bb.response.ending.kind == 'whole'"),
        BT.expect("can be asked again", "not bb.is_last_turn and bb.empty_responses < " .. EMPTY_RESPONSES),
        note.empty_response,
        tell.response_was_empty,
      }),
      BT.sequence("answer", { BT.subtree("take the text as the answer"), BT.exit("turns") }),
    }),
    BT.guard("was cut off by a crash", { "bb.response.is_interrupted", tell.response_was_cut_off }),
    turn.close,
  }),
})

-- A call of an own tool that writes needs a yes here as well.
BT.tree("run all calls", {
  root = BT.sequence("run all calls", {
    calls.refuse_ungranted,
    calls.refuse_half_written,
    calls.refuse_without_arguments,
    calls.refuse_used_up,
    BT.subtree("ask for a yes"),
    calls.note_the_time_left,
    BT.selector("run them in time", {
      BT.timeout("while time is left", { seconds = "seconds_left", calls.run }),
      BT.subtree("end in the middle of a turn"),
    }),
  }),
})

BT.tree("take the text as the answer", {
  root = BT.selector("take the text as the answer", {
    BT.sequence("model declined", { BT.expect("is a refusal", "bb.response.ending.kind == 'refusal'"), finish.declined }),
    BT.sequence("filter stopped it", { BT.expect("was filtered", "bb.response.ending.kind == 'filter'"), finish.filtered }),
    BT.sequence("nothing was said", { BT.invert("no text", reply.has_text), finish.gave_empty_responses }),
    BT.sequence("it was cut", { BT.expect("did not end by itself", "bb.response.ending.kind ~= 'whole'"), finish.cut_short }),
    BT.sequence("turns were used up", { BT.expect("tools were withdrawn", "bb.is_last_turn"), finish.as_announced }),
    finish.answered,
  }),
})
