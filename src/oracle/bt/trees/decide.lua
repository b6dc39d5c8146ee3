-- What the response means. A branch ends the run by BT.exit("turns"), or lets the turn go on to its tool calls.

local function signal(type)
  return BT.condition("is it", { expression = "bb.signal.type == '" .. type .. "'" })
end

local function answer(stop)
  return BT.sequence("answer", {
    BT.condition("is an answer", { fn = "oracle.bt.conditions.response.is_an_answer" }),
    BT.action("close", { fn = "oracle.bt.actions.finish.close", args = { stop = stop } }),
    BT.exit("turns"),
  })
end

local function ask_again_or_stop()
  return BT.selector("empty", {
    BT.sequence("the third time", {
      BT.condition("told twice", { expression = "bb.empty_responses >= 2" }),
      BT.action("give up", { fn = "oracle.bt.actions.finish.give_up_on_silence" }),
      BT.exit("turns"),
    }),
    BT.action("ask again", { fn = "oracle.bt.actions.signals.ask_again" }),
  })
end

local ask_for_the_answer = "oracle.bt.actions.signals.ask_for_the_answer"
local what_there_is = "oracle.bt.actions.ladder.ask_for_what_there_is"

BT.tree("decide", {
  root = BT.selector("decide", {
    BT.condition("it was cut short", { expression = "not bb.response.is_complete" }),

    -- The tools were withdrawn before: what came is the last word, if it is any.
    BT.sequence("last turn", {
      BT.condition("it was announced", { expression = "bb.is_last_turn" }),
      BT.selector("then", {
        BT.sequence("says something", {
          BT.condition("has text", { fn = "oracle.bt.conditions.response.has_text" }),
          BT.action("close", { fn = "oracle.bt.actions.finish.close_last_turn" }),
          BT.exit("turns"),
        }),
        ask_again_or_stop(),
      }),
    }),

    BT.sequence("need_turn", {
      signal("need_turn"),
      BT.selector("another", {
        BT.condition("settled by the fallback", { expression = "bb.tools_withdrawn" }),
        BT.sequence("granted", {
          BT.condition("a turn is left", { fn = "oracle.bt.conditions.response.another_turn_is_left" }),
          BT.action("grant", { fn = "oracle.bt.actions.signals.grant_turn" }),
        }),
        BT.sequence("refused", {
          BT.action("stop", { fn = "oracle.bt.actions.finish.stop_at_limit" }),
          BT.exit("turns"),
        }),
      }),
    }),

    BT.sequence("context_sufficient", {
      signal("context_sufficient"),
      BT.selector("is it so", {
        BT.sequence("believed", {
          BT.condition("evidence", { fn = "oracle.bt.conditions.context_needs.has_evidence" }),
          BT.action("stop searching", { fn = "oracle.bt.actions.signals.stop_searching" }),
          BT.selector("then", {
            BT.sequence("contradicts itself", {
              BT.condition("calls", { fn = "oracle.bt.conditions.response.has_calls" }),
              BT.action("ask for the answer", { fn = ask_for_the_answer }),
            }),
            answer("answered"),
            BT.action("ask for the answer", { fn = ask_for_the_answer }),
          }),
        }),
        BT.condition("it searches anyway", { fn = "oracle.bt.conditions.response.has_calls" }),
        BT.sequence("no use in sending back", {
          BT.selector("why", {
            BT.condition("was doubted twice", { expression = "bb.doubts >= 2" }),
            BT.condition("no tools", { fn = "oracle.bt.conditions.context_needs.has_nothing_to_search_with" }),
            BT.condition("it did search", { fn = "oracle.bt.conditions.context_needs.nothing_was_found" }),
          }),
          BT.selector("then", {
            answer("partial_answer"),
            BT.action("what there is", { fn = what_there_is }),
          }),
        }),
        BT.action("send back", { fn = "oracle.bt.actions.signals.send_back_to_search" }),
      }),
    }),

    -- The fallback was consulted before; where it has moved the strategy on, this is the same step.
    BT.sequence("stuck", {
      signal("stuck"),
      BT.action("move on", { fn = "oracle.bt.actions.strategy.move_on" }),
    }),

    BT.sequence("need_capability", {
      signal("need_capability"),
      BT.selector("grant", {
        BT.condition("settled by the fallback", { expression = "bb.tools_withdrawn" }),
        BT.action("a tool that reads", { fn = "oracle.bt.actions.grants.grant_reading_tools" }),
        BT.timeout("while time is left", {
          seconds = "seconds_left",
          BT.action("a yes from a person", { fn = "oracle.bt.actions.grants.ask_a_person" }),
        }),
        BT.action("admit the gap", { fn = "oracle.bt.actions.grants.admit_the_gap" }),
        -- It was told before that this cannot be had.
        BT.action("what there is", { fn = what_there_is }),
      }),
    }),

    BT.sequence("partial_answer", {
      signal("partial_answer"),
      BT.selector("then", {
        BT.sequence("ends", {
          BT.condition("has text", { fn = "oracle.bt.conditions.response.has_text" }),
          BT.action("show the caveat", { fn = "oracle.bt.actions.finish.show_caveat" }),
          BT.action("close", { fn = "oracle.bt.actions.finish.close", args = { stop = "partial_answer" } }),
          BT.exit("turns"),
        }),
        BT.action("ask for the answer", { fn = ask_for_the_answer }),
      }),
    }),

    BT.sequence("delegation_recommended", {
      signal("delegation_recommended"),
      BT.action("record", { fn = "oracle.bt.actions.signals.record_delegation" }),
      BT.selector("then", {
        BT.action("cover the parts", { fn = "oracle.bt.actions.coverage.ask_for_coverage" }),
        BT.action("go on alone", { fn = "oracle.bt.actions.signals.go_on_alone" }),
        BT.action("what there is", { fn = what_there_is }),
      }),
    }),

    -- No signal that could be read.
    BT.condition("calls speak for it", { fn = "oracle.bt.conditions.response.has_calls" }),
    BT.sequence("plain answer", {
      BT.condition("no spoilt signal", { fn = "oracle.bt.conditions.response.speaks_for_itself" }),
      answer("answered"),
    }),
    BT.sequence("spoilt signal", {
      BT.condition("has text", { fn = "oracle.bt.conditions.response.has_text" }),
      BT.action("ask for a signal", { fn = "oracle.bt.actions.signals.ask_for_a_signal" }),
    }),
    ask_again_or_stop(),
  }),
})
