-- What a response leads to. The first branch that fits is taken.
--
-- BT.exit("turns") ends the run. Every other branch lets the turn go on to its tool calls.

local reply = BT.leaves("oracle.bt.conditions.reply")           -- what the response contains
local evidence = BT.leaves("oracle.bt.conditions.evidence")     -- what has been gathered
local capability = BT.leaves("oracle.bt.conditions.capability") -- what tool is asked for
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local calls = BT.leaves("oracle.bt.actions.calls")
local tell = BT.leaves("oracle.bt.actions.tell")                -- messages to the model
local grant = BT.leaves("oracle.bt.actions.grants")
local finish = BT.leaves("oracle.bt.actions.finish")            -- ways to end

local MOST_DOUBTS = 2        -- a claim that was doubted this often is taken as a partial answer
local MOST_EMPTY = 2         -- after this many empty responses the next one ends the run
local MOST_MALFORMED = 2     -- from this many unreadable signals on, the text speaks for itself
local MOST_DELEGATIONS = 1   -- after this many, the model must do something by itself

local function on(signal, branch)
  return BT.sequence(signal, { BT.expect("signal is " .. signal, "bb.signal.type == '" .. signal .. "'"), branch })
end

-- The response is the answer. It is whole unless its sources were searched in vain.
local function end_with_the_answer()
  return BT.selector("answer counts as", {
    BT.sequence("partial", { evidence.was_searched_for_in_vain, finish.searched_in_vain }),
    finish.answered,
  })
end

local function ask_again_or_give_up()
  return BT.selector("empty response", {
    BT.sequence("empty too often", {
      BT.expect("asked again before", "bb.empty_responses >= " .. MOST_EMPTY),
      finish.silent_again_and_again,
      BT.exit("turns"),
    }),
    tell.response_was_empty,
  })
end

BT.tree("decide", {
  root = BT.selector("decide", {
    BT.expect("response was cut", "not bb.response.is_complete"),

    -- The tools were withdrawn before, so any text is the answer; its signal says how good it is.
    BT.sequence("last turn", {
      BT.expect("tools were withdrawn", "bb.is_last_turn"),
      BT.selector("what it ends with", {
        BT.sequence("text", {
          reply.has_text,
          BT.selector("ends as", {
            on("context_sufficient", BT.selector("claim checked", {
              BT.sequence("believed", { evidence.backs_the_claim, end_with_the_answer() }),
              finish.partial,
            })),
            on("partial_answer", BT.sequence("partial answer", { finish.show_what_is_missing, finish.partial })),
            on("stuck", finish.stuck),
            BT.sequence("as announced", {
              BT.expect("a reason was announced", "bb.stop_after_last_turn ~= ''"),
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
      BT.expect("fallback has decided", "bb.tools_withdrawn"),
      BT.sequence("granted", { ledger.allows_another_turn, tell.another_turn_is_granted }),
      BT.sequence("refused", { finish.at_limit, BT.exit("turns") }),
    })),

    on("context_sufficient", BT.selector("claim checked", {
      BT.sequence("believed", {
        evidence.backs_the_claim,
        calls.refuse_searches,
        BT.selector("answer or ask for it", {
          BT.sequence("contradicts itself", { reply.has_calls, tell.answer_now }),
          BT.sequence("answers", { reply.has_text_and_no_open_calls, end_with_the_answer(), BT.exit("turns") }),
          tell.answer_now("ask for the answer"),
        }),
      }),
      reply.has_calls("searches anyway"),
      BT.sequence("sending it back is of no use", {
        BT.selector("reason not to", {
          BT.expect("doubted before", "bb.doubts >= " .. MOST_DOUBTS),
          evidence.cannot_be_searched_for,
          evidence.is_nowhere,
        }),
        BT.selector("partial answer or ask for one", {
          BT.sequence("partial answer", { reply.has_text_and_no_open_calls, finish.partial, BT.exit("turns") }),
          tell.answer_from_what_there_is,
        }),
      }),
      tell.search_first,
    })),

    -- The fallback was consulted before this; asking for a strategy twice is asking once.
    on("stuck", BT.later("change strategy")),

    on("need_capability", BT.selector("capability", {
      BT.expect("fallback has decided", "bb.tools_withdrawn"),
      BT.sequence("tool that reads", { capability.a_reading_tool_can_do_it, grant.reading_tools }),
      BT.sequence("tool that writes", {
        capability.a_writing_tool_can_do_it,
        BT.selector("may it write", {
          BT.sequence("granted before", { capability.all_of_them_are_granted, grant.writing_tools_it_has }),
          BT.sequence("ask a person", {
            capability.none_of_them_was_refused,
            BT.selector("who can be asked", {
              BT.sequence("nobody", {
                BT.expect("nobody is there", "not bb.can_ask"),
                grant.refuse_because_nobody_can_be_asked,
              }),
              BT.timeout("while time is left", {
                seconds = "seconds_left",
                grant.writing_tools_if_a_person_agrees,
              }),
            }),
          }),
        }),
      }),
      BT.sequence("no tool", { capability.no_tool_can_do_it, capability.the_gap_is_new, grant.admit_the_gap }),
      -- It was told before that this cannot be had.
      tell.answer_from_what_there_is,
    })),

    on("partial_answer", BT.selector("partial answer", {
      BT.sequence("ends with it", {
        reply.has_text,
        finish.show_what_is_missing,
        finish.partial,
        BT.exit("turns"),
      }),
      tell.answer_now,
    })),

    on("delegation_recommended", BT.sequence("delegation", {
      tell.record_delegation,
      BT.selector("split the work", {
        BT.sequence("by the tree", { coverage.can_be_covered, BT.later("cover every part") }),
        BT.sequence("by the model alone", {
          BT.selector("it can go on", {
            BT.expect("asked for the first time", "#bb.delegations <= " .. MOST_DELEGATIONS),
            reply.has_calls,
          }),
          tell.go_on_alone,
        }),
        tell.answer_from_what_there_is,
      }),
    })),

    -- From here on there is no signal that could be read.
    reply.has_calls("calls without a signal"),
    BT.sequence("text without a signal", {
      BT.expect("no signal to wait for", "not bb.response.malformed or bb.malformed_responses >= " .. MOST_MALFORMED),
      reply.has_text_and_no_open_calls,
      end_with_the_answer(),
      BT.exit("turns"),
    }),
    BT.sequence("unreadable signal", { reply.has_text, tell.give_a_readable_signal }),
    ask_again_or_give_up(),
  }),
})
