// What the sides of a difference did, without what need not be read again. Pure.
//
// Every turn says which tools it offers, and lists of tools are long: a card says those that only one side has,
// and the next card of the same kind says nothing of them.

const TOOLS = /^(?:offers|grants) the tools: (.*)$/;
const SIDES = ["a", "b"];

const listed = (fact) => (TOOLS.exec(fact)?.[1] ?? "").split(", ").filter((name) => name && name !== "none");

/** The differences, each with `told.a` and `told.b`: lines for its card. */
export function withTold(differences) {
  const before = { a: null, b: null };
  return differences.map((one) => ({ ...one, told: Object.fromEntries(SIDES.map((side, at) => [side, linesOf(one, side, SIDES[1 - at], before)])) }));
}

function linesOf(one, side, other, before) {
  const does = one[side]?.does ?? [];
  const lines = does.filter((fact) => !TOOLS.test(fact));
  const theirs = toolsOf(one[other]?.does ?? []);
  const tools = [...toolsOf(does)].filter((name) => !theirs.has(name)).join(", ");
  if (tools && tools !== before[side]) {
    lines.push(`offers ${tools}`);
    before[side] = tools;
  }
  return lines;
}

const toolsOf = (does) => new Set(does.flatMap(listed));

// What only one of two loops does at all, and how that is said.
const ALONE = [
  [/^takes it for a question/, "asks what kind of question it is"],
  [/^decides: /, "decides what the signal leads to"],
];

/** A name for a difference that no node stands for. */
export function wordsWithoutNode({ turn, told }, names, lengths) {
  if (turn > lengths.b) return `only the ${nounOf(names.a)} has this turn`;
  if (turn > lengths.a) return `only the ${nounOf(names.b)} has this turn`;
  const lines = [...told.a, ...told.b];
  if (!lines.length) return "other tools are offered, as before";
  if (lines.every((line) => line.startsWith("offers "))) return "other tools are offered";
  for (const [pattern, words] of ALONE) {
    const sides = SIDES.filter((side) => told[side].some((line) => pattern.test(line)));
    if (sides.length === 1) return `only the ${nounOf(names[sides[0]])} ${words}`;
  }
  return "something else is done";
}

const nounOf = (name) => (name === "recorded" ? "recording" : name);
