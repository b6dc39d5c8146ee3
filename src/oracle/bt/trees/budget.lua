-- What the ledger says before a request. Budgets are turns, tokens, money and seconds. The reserve is what the last
-- answer will need: its request, longer by what this turn adds to the conversation, its text, and its time.

local budget = BT.leaves("oracle.bt.actions.budget")
local ledger = BT.leaves("oracle.bt.conditions.budget")
local model = BT.leaves("oracle.bt.actions.model_call")
local finish = BT.leaves("oracle.bt.actions.finish")

local WARNING_SHARE = 0.7 -- late enough to matter, early enough to come to the point
local REFUSALS = 20       -- each request is a third smaller than the one before, so it is no request long before this

-- The context window must hold the tools, the messages and the answer. What is shortened says so.
BT.tree("make it fit", {
  root = BT.sequence("make it fit", {
    BT.guard("tools leave no room for the question", { ledger.tools_have_no_room, budget.withdraw_tools_without_room }),
    BT.guard("messages leave no room for the answer", { ledger.messages_have_no_room, budget.make_room }),
  }),
})

BT.tree("budget", {
  root = BT.sequence("budget", {
    budget.weigh_messages,
    BT.guard("messages fill half of the window", { ledger.context_is_large, budget.compact }),
    BT.subtree("make it fit"),
    BT.guard("no request can be paid", {
      ledger.is_exhausted,
      BT.sequence("end at the limit", { finish.at_limit, BT.exit("turns") }),
    }),
    BT.guard("most of a budget is spent", {
      ledger.a_warning_is_due { share = WARNING_SHARE },
      budget.warn { share = WARNING_SHARE },
    }),
    BT.guard("a tool is used up", { ledger.a_tool_is_used_up, budget.withdraw_used_up_tools }),
    BT.guard("only the reserve is left", { ledger.only_the_reserve_is_left, budget.withdraw_tools_for_the_last_turn }),
  }),
})

-- One request. A provider may count more tokens than we estimate, or have a smaller window than we know of: then it
-- refuses the request, takes nothing for it, and gets a smaller one.
BT.tree("request", {
  root = BT.loop("until it fits", {
    max = REFUSALS,
    BT.selector("ask or make it smaller", {
      BT.sequence("the model responds", { model.call_model, BT.exit("until it fits") }),
      BT.sequence("request is too long", {
        ledger.request_was_too_long,
        budget.expect_a_smaller_window,
        BT.subtree("make it fit"),
      }),
    }),
  }),
})
