-- What happens when the model's signals are missing, weak, malformed, or say that it is stuck.
--
-- It stands after each response and before the decision about tools. It never ends the loop by itself, but what
-- it decides binds the next turn.

BT.tree("fallback", {
  description = "Consults the fallback where the model does not say clearly how it stands",
  blackboard = {
    query = "any",
    accumulated_content = { type = "string", default = "" },
    tool_results = { type = "list", default = {} },
    messages = { type = "list", default = {} },
    _pending_chunks = { type = "list", default = {} },
    last_signal = "object?",
    signal_consulted = false,
    signal_malformed = false,
    turns_without_signal = 0,
    turns_at_last_fallback = 0,
    fallback_classification = "object?",
    strategy = 0,
    tools_withdrawn = false,
  },

  root = BT.always_succeed("if needed", BT.sequence("consult", {
    BT.condition("needs fallback", { fn = "oracle.bt.conditions.fallback.needs_fallback" }),
    BT.action("classify", { fn = "oracle.bt.actions.fallback_actions.trigger_fallback" }),
    BT.action("carry out", { fn = "oracle.bt.actions.fallback_actions.apply_heuristic_classification" }),
  })),
})
