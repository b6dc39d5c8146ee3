-- What the ledger says before a request. Budgets are turns, tokens, money and seconds. The reserve is what the last
-- request will need: its input at its present size, its longest output, and the time of the longest turn so far.

local budget = BT.leaves("oracle.bt.actions.budget")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local finish = BT.leaves("oracle.bt.actions.finish")

local WARNING_SHARE = 0.7 -- late enough to matter, early enough to come to the point

BT.tree("budget", {
  root = BT.sequence("budget", {
    budget.weigh_messages,
    BT.guard("nothing is left", {
      ledger.is_exhausted,
      BT.sequence("end at the limit", { finish.at_limit, BT.exit("turns") }),
    }),
    BT.guard("messages fill half of the window", { ledger.context_is_large, budget.compact }),
    BT.guard("most of a budget is spent", {
      ledger.a_warning_is_due { share = WARNING_SHARE },
      budget.warn { share = WARNING_SHARE },
    }),
    BT.guard("a tool is used up", { ledger.a_tool_is_used_up, budget.withdraw_used_up_tools }),
    BT.guard("only the reserve is left", { ledger.only_the_reserve_is_left, budget.withdraw_tools_for_the_last_turn }),
  }),
})
