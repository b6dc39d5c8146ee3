-- One turn: a request, its response, and what follows from it.
--
-- BT.exit("turns") is the only way to an end. Reaching the bottom means another turn.

BT.tree("turn", {
  root = BT.sequence("turn", {
    BT.subtree("budget"),
    BT.action("begin", { fn = "oracle.bt.actions.turn.begin_turn" }),

    -- While the model streams the guards above it stay live. A cancellation needs none: it halts the whole tree.
    BT.selector("response", {
      BT.timeout("while time is left", {
        seconds = "seconds_left",
        BT.reactive_sequence("ask", {
          BT.condition("the ledger allows it", { fn = "oracle.bt.conditions.budget.within_limits" }),
          BT.condition("it makes sense", { expression = "not bb.is_runaway" }),
          BT.action("the model", { fn = "oracle.bt.actions.turn.call_model" }),
        }),
      }),
      BT.sequence("cut short", {
        BT.action("what came", { fn = "oracle.bt.actions.turn.await_what_came" }),
        BT.selector("why", {
          BT.condition("it went in circles", { expression = "bb.is_runaway" }),
          BT.condition("the process died", { expression = "bb.response.is_interrupted" }),
          BT.sequence("no response", {
            BT.action("stop", { fn = "oracle.bt.actions.finish.stop_without_response" }),
            BT.exit("turns"),
          }),
        }),
      }),
    }),

    BT.action("take it in", { fn = "oracle.bt.actions.turn.take_in_response" }),
    BT.subtree("fallback"),
    BT.action("say what is pending", { fn = "oracle.bt.actions.telling.say_pending" }),
    BT.subtree("decide"),
    BT.subtree("work"),

    BT.guard("the process died", {
      expression = "bb.response.is_interrupted",
      BT.action("ask again", { fn = "oracle.bt.actions.signals.ask_again_after_crash" }),
    }),
    BT.guard("going in circles", { fn = "oracle.bt.conditions.loop_detection.is_looping", BT.subtree("ladder") }),
    BT.guard("the strategy moved on", {
      expression = "bb.strategy > bb.strategy_applied and not bb.tools_withdrawn",
      BT.subtree("strategy"),
    }),
    BT.guard("it is broad", { expression = "bb.coverage == 'due'", BT.subtree("coverage") }),
    BT.action("go on", { fn = "oracle.bt.actions.turn.go_on" }),
  }),
})
