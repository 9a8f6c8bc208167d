/** By how much a budget may be above what it is for: a looser one would let a bundle grow unseen. */
const MAX_SLACK_PERCENT = 15

/** Kilobytes, of 1000 bytes, that each function may load at a cold start; they are in `bundle-budget.json`. */
export type BundleBudget = Record<string, number>

/** What is wrong between bundles and their budget, one line each. `bytes` is what loads at start. */
export function budgetProblems(bytes: Record<string, number>, budget: BundleBudget): string[] {
  const names = [...new Set([...Object.keys(bytes), ...Object.keys(budget)])]
  return names.flatMap((name) => {
    const [size, max] = [bytes[name], budget[name]]
    if (size === undefined) return [`${name} has a budget, but is no function.`]
    const measured = `${name} loads ${size / 1000} KB at start`
    if (max === undefined) return [`${measured}, and has no budget.`]
    if (size > max * 1000) return [`${measured}; its budget is ${max} KB.`]
    if (max * 100_000 > size * (100 + MAX_SLACK_PERCENT))
      return [
        `${measured}; its budget of ${max} KB is more than ${MAX_SLACK_PERCENT} % above that: tighten it.`,
      ]
    return []
  })
}
