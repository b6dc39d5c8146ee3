-- The first request: the tools that the class of the question gets, a prompt that names just these tools, the
-- conversation as far as there is room, and the question.

local compose = BT.leaves("oracle.bt.actions.compose")

local SURE_OF_AN_ACTION = 0.8 -- below this, a request to write gets no writing tool without a person's yes
local SURE_OF_A_CLASS = 0.6   -- below this, the tools of the class that came second are granted too

BT.tree("compose", {
  root = BT.sequence("compose", {
    compose.grant_first_tools { sure_of_an_action = SURE_OF_AN_ACTION, sure_of_a_class = SURE_OF_A_CLASS },
    -- With a single turn nobody would read what a tool returns.
    BT.guard("there is only one turn", { "bb.limits.turns <= 1", compose.withdraw_tools }),
    compose.announce_question,
    compose.write_prompt,
    compose.add_history,
    compose.add_question,
  }),
})
