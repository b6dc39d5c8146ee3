-- What happens when the model's signals are missing, weak, malformed, or say that it is stuck.
--
-- It stands after each response and before the decision about tools. It never ends the loop by itself, but what
-- it decides binds the next turn.

BT.tree("fallback", {
  description = "Consults the fallback where the model does not say clearly how it stands",

  root = BT.always_succeed("if needed", BT.sequence("consult", {
    BT.condition("needs fallback", { fn = "oracle.bt.conditions.fallback.needs_fallback" }),
    BT.action("classify", { fn = "oracle.bt.actions.fallback_actions.trigger_fallback" }),
    BT.action("carry out", { fn = "oracle.bt.actions.fallback_actions.apply_heuristic_classification" }),
  })),
})
