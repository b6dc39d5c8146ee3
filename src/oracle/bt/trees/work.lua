-- The tool calls of a response: screened, run side by side, and weighed.

BT.tree("work", {
  root = BT.guard("calls", {
    fn = "oracle.bt.conditions.response.has_calls",
    BT.sequence("work", {
      BT.action("screen", { fn = "oracle.bt.actions.tools.screen_calls" }),
      BT.selector("in time", {
        BT.timeout("while time is left", {
          seconds = "seconds_left",
          BT.action("run", { fn = "oracle.bt.actions.tools.run_calls" }),
        }),
        BT.sequence("too late", {
          BT.action("stop", { fn = "oracle.bt.actions.finish.stop_without_response" }),
          BT.exit("turns"),
        }),
      }),

      BT.guard("calls keep failing", {
        fn = "oracle.bt.conditions.context_needs.calls_keep_failing",
        BT.action("advise", { fn = "oracle.bt.actions.tools.advise_after_errors" }),
      }),
      BT.guard("enough is there", {
        fn = "oracle.bt.conditions.context_needs.enough_is_there",
        BT.once("say so once", { BT.action("suggest to answer", { fn = "oracle.bt.actions.signals.suggest_to_answer" }) }),
      }),
      BT.guard("it keeps spreading", {
        fn = "oracle.bt.conditions.coverage.evidence_keeps_spreading",
        BT.always_succeed("if it can", BT.action("cover the parts", {
          fn = "oracle.bt.actions.coverage.ask_for_coverage",
        })),
      }),
      BT.guard("nothing was found", {
        fn = "oracle.bt.conditions.context_needs.nothing_was_found",
        BT.once("say so once", {
          BT.sequence("another way", {
            BT.action("tell", { fn = "oracle.bt.actions.signals.tell_that_nothing_was_found" }),
            BT.action("move on", { fn = "oracle.bt.actions.strategy.move_on" }),
          }),
        }),
      }),
      BT.guard("still nothing", {
        fn = "oracle.bt.conditions.context_needs.nothing_comes_of_this_strategy",
        BT.action("move on", { fn = "oracle.bt.actions.strategy.move_on" }),
      }),
    }),
  }),
})
