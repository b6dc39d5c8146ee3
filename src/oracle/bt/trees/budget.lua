-- What the ledger says before a request: nothing left, only the reserve left, 70 % spent, context full.

BT.tree("budget", {
  root = BT.sequence("budget", {
    BT.action("weigh the messages", { fn = "oracle.bt.actions.turn.weigh_messages" }),
    BT.guard("nothing is left", {
      fn = "oracle.bt.conditions.budget.is_exhausted",
      BT.sequence("force completion", {
        BT.action("stop", { fn = "oracle.bt.actions.finish.stop_at_limit" }),
        BT.exit("turns"),
      }),
    }),
    BT.guard("the context is large", {
      fn = "oracle.bt.conditions.budget.context_is_large",
      BT.action("compact", { fn = "oracle.bt.actions.turn.compact" }),
    }),
    BT.guard("most is spent", {
      fn = "oracle.bt.conditions.budget.a_warning_is_due",
      BT.action("warn", { fn = "oracle.bt.actions.budget.warn" }),
    }),
    BT.guard("a tool is used up", {
      fn = "oracle.bt.conditions.budget.a_tool_is_used_up",
      BT.action("withdraw it", { fn = "oracle.bt.actions.budget.withdraw_used_up_tools" }),
    }),
    BT.guard("only the reserve is left", {
      fn = "oracle.bt.conditions.budget.only_the_reserve_is_left",
      BT.action("last turn", { fn = "oracle.bt.actions.budget.announce_last_turn" }),
    }),
  }),
})
