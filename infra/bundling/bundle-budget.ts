/** A budget may exceed the size by this much at most: a looser one would hide growth. */
const MAX_SLACK_PERCENT = 15

/** Kilobytes (1000 bytes) that each function may load at a cold start: the contents of `bundle-budget.json`. */
export type BundleBudget = Record<string, number>

/** Compares sizes with budgets. `bytes`: what each function loads at a cold start. @returns one line per violation */
export function checkBudget(bytes: Record<string, number>, budget: BundleBudget): string[] {
  const names = [...new Set([...Object.keys(bytes), ...Object.keys(budget)])]
  return names.flatMap((name) => {
    const [size, max] = [bytes[name], budget[name]]
    if (size === undefined) return [`${name} has a budget, but is not a function.`]
    const load = `${name} loads ${size / 1000} KB at a cold start`
    if (max === undefined) return [`${load}, but has no budget.`]
    if (size > max * 1000) return [`${load}; its budget is ${max} KB.`]
    if (max * 100_000 > size * (100 + MAX_SLACK_PERCENT))
      return [`${load}; its budget of ${max} KB is more than ${MAX_SLACK_PERCENT} % above that: reduce it.`]
    return []
  })
}
