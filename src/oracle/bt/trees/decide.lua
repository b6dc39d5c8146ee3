-- What a response leads to. The first branch that fits is taken.
--
-- BT.exit("turns") ends the run. Every other branch lets the turn go on to its tool calls.

local reply = BT.leaves("oracle.bt.conditions.reply")           -- what the response contains
local evidence = BT.leaves("oracle.bt.conditions.evidence")     -- what has been gathered
local capability = BT.leaves("oracle.bt.conditions.capability") -- what a need_capability signal asks for
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local calls = BT.leaves("oracle.bt.actions.calls")
local note = BT.leaves("oracle.bt.actions.note")                -- counters
local tell = BT.leaves("oracle.bt.actions.tell")                -- messages to the model
local say = BT.leaves("oracle.bt.actions.say")                  -- messages to the user
local grant = BT.leaves("oracle.bt.actions.grants")
local finish = BT.leaves("oracle.bt.actions.finish")            -- ways to end

-- How often the model is asked again before the tree decides without it.
local DOUBTS = 2           -- the 3rd claim without evidence is taken as a partial answer
local EMPTY_RESPONSES = 2  -- the 3rd empty response ends the run
local MALFORMED = 1        -- with the 2nd unreadable signal the text counts without one
local DELEGATIONS = 1      -- the 2nd wish to delegate needs calls of its own, or it is the end of the search

local function on(signal, branch)
  return BT.sequence(signal, { BT.expect("signal is " .. signal, "bb.signal.type == '" .. signal .. "'"), branch })
end

-- The response is the answer. It is whole, unless its sources were searched and none brought anything.
local function end_with_the_answer()
  return BT.selector("answer is whole or partial", {
    BT.sequence("partial answer", { evidence.was_searched_for_in_vain, finish.searched_in_vain }),
    finish.answered,
  })
end

local function ask_for_the_answer(name)
  return BT.sequence(name, { grant.withdraw_all { stop = "" }, tell.answer_now })
end

local function ask_for_what_there_is()
  return BT.sequence("last turn without tools", { grant.withdraw_all { stop = "stuck" }, tell.answer_from_what_there_is })
end

local function ask_again_or_give_up()
  return BT.selector("empty response", {
    BT.sequence("empty too often", {
      BT.expect("was asked again before", "bb.empty_responses >= " .. EMPTY_RESPONSES),
      say.verdict { verdict = "refused", reason = "the response was empty again" },
      finish.gave_empty_responses,
      BT.exit("turns"),
    }),
    BT.sequence("ask again", {
      note.empty_response,
      say.verdict { verdict = "asked_again", reason = "the response was empty" },
      tell.response_was_empty,
    }),
  })
end

BT.tree("decide", {
  root = BT.selector("decide", {
    -- A response that was cut is not read for a decision. The model hears of it at the end of the turn, after a crash
    -- from the turn itself, after a text that repeated itself from "circles".
    BT.expect("response was cut", "not bb.response.is_complete"),

    -- The tools were withdrawn before, so any text is the answer; its signal says how good it is.
    BT.sequence("last turn", {
      BT.expect("tools were withdrawn", "bb.is_last_turn"),
      BT.selector("text or nothing", {
        BT.sequence("text ends the run", {
          reply.has_text,
          BT.selector("how good the answer is", {
            on("context_sufficient", BT.selector("claim checked", {
              BT.sequence("claim is believed", { evidence.backs_the_claim, end_with_the_answer() }),
              finish.partial,
            })),
            on("partial_answer", BT.sequence("partial answer", { finish.show_what_is_missing, finish.partial })),
            on("stuck", finish.stuck),
            BT.sequence("for the reason of the withdrawal", {
              BT.expect("a reason was given", "bb.stop_after_last_turn ~= ''"),
              finish.as_announced,
            }),
            end_with_the_answer(),
          }),
          BT.exit("turns"),
        }),
        ask_again_or_give_up(),
      }),
    }),

    on("need_turn", BT.selector("another turn", {
      BT.expect("tools are withdrawn", "bb.tools_withdrawn"), -- by the fallback: the next turn is the last anyway
      BT.sequence("turn is granted", { ledger.allows_another_turn, tell.another_turn_is_granted }),
      -- Only if this very response used up a budget: before it there was room.
      BT.sequence("turn is refused", {
        say.verdict { verdict = "refused", reason = "a budget is used up" },
        finish.at_limit,
        BT.exit("turns"),
      }),
    })),

    on("context_sufficient", BT.selector("claim checked", {
      BT.sequence("claim is believed", {
        evidence.backs_the_claim,
        calls.refuse_searches, -- they contradict the claim; a call that writes does not, and is run
        BT.selector("answer or ask for it", {
          BT.sequence("calls tools too", { reply.has_calls, ask_for_the_answer("answer instead of searching") }),
          BT.sequence("answers", { reply.has_text, end_with_the_answer(), BT.exit("turns") }),
          ask_for_the_answer("ask for the answer"),
        }),
      }),
      BT.sequence("searches after all", {
        reply.has_calls,
        say.verdict { verdict = "not_believed", reason = "nothing was gathered, but it searches" },
      }),
      BT.sequence("sending it back is of no use", {
        BT.selector("reason to give up", {
          BT.expect("doubted before", "bb.doubts >= " .. DOUBTS),
          evidence.no_reading_tool_is_on_offer,
          evidence.was_not_found_anywhere,
        }),
        BT.selector("partial answer or ask for one", {
          BT.sequence("partial answer", { reply.has_text, finish.partial, BT.exit("turns") }),
          ask_for_what_there_is(),
        }),
      }),
      BT.sequence("send it back to search", { note.doubt, tell.search_first }),
    })),

    -- The fallback was consulted before this; asking for a strategy twice is asking once.
    on("stuck", BT.sequence("try another way", {
      say.verdict { verdict = "strategy_changed" },
      BT.later("change strategy"),
    })),

    on("need_capability", BT.selector("find a tool for it", {
      BT.expect("tools are withdrawn", "bb.tools_withdrawn"), -- by the fallback: the next turn is the last anyway
      BT.sequence("tool that reads", { capability.a_reading_tool_can_do_it, grant.reading_tools }),
      BT.sequence("tool that writes", {
        capability.a_writing_tool_can_do_it,
        BT.selector("may it write", {
          BT.sequence("granted before", { capability.all_of_them_are_granted, grant.remind_of_granted_tools }),
          BT.sequence("ask a person", {
            capability.none_of_them_was_denied,
            BT.selector("who can be asked", {
              BT.sequence("nobody can be asked", {
                BT.expect("no person is there", "not bb.can_ask"),
                grant.refuse_writing_tools { by = "the tree: nobody could be asked" },
              }),
              BT.timeout("while time is left", {
                seconds = "seconds_left",
                grant.writing_tools_if_a_person_agrees,
              }),
              -- The person took all the time there was, so the budget ends the run after this turn.
              grant.refuse_writing_tools("nobody answered", { by = "a person who did not answer in time" }),
            }),
          }),
        }),
      }),
      BT.sequence("no tool can do it", { capability.no_tool_can_do_it, capability.the_gap_is_new, grant.admit_the_gap }),
      -- It was refused before.
      ask_for_what_there_is(),
    })),

    on("partial_answer", BT.selector("end or ask for the text", {
      BT.sequence("ends with a partial answer", {
        reply.has_text,
        finish.show_what_is_missing,
        finish.partial,
        BT.exit("turns"),
      }),
      ask_for_the_answer("ask for the answer"),
    })),

    on("delegation_recommended", BT.sequence("delegation", {
      note.delegation,
      BT.selector("split the work", {
        BT.sequence("tree reads every part", {
          coverage.can_be_covered,
          say.verdict { verdict = "granted", reason = "the tree reads every part" },
          BT.later("cover every part"),
        }),
        BT.sequence("model goes on alone", {
          BT.selector("it can go on", {
            BT.expect("first wish to delegate", "#bb.delegations <= " .. DELEGATIONS),
            reply.has_calls,
          }),
          tell.go_on_alone,
        }),
        ask_for_what_there_is(),
      }),
    })),

    -- From here on there is no signal that could be read.
    reply.has_calls("calls without a signal"),
    BT.sequence("text without a signal", {
      BT.expect("no signal to wait for", "not bb.response.malformed or bb.malformed_responses > " .. MALFORMED),
      reply.has_text,
      end_with_the_answer(),
      BT.exit("turns"),
    }),
    BT.sequence("unreadable signal", { reply.has_text, tell.give_a_readable_signal }),
    ask_again_or_give_up(),
  }),
})
