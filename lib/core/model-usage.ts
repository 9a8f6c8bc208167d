/** What model responses used. The optional counts are absent if the provider does not report them. */
export type Usage = {
  /** Includes the tokens read from and written to the provider's prompt cache. */
  inputTokens: number
  /** Includes the tokens of the reasoning. */
  outputTokens: number
  cachedInputTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
  /** Searches of the web that the provider executed. */
  webSearches?: number
  /** The price in US dollars when the responses were received; absent if the model has no price. */
  costUsd?: number
  /** A part of it is estimated: the provider did not report it. Absent if nothing is. */
  estimated?: true
}

/** Stored with every run, so it has no member that is not required. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 }

/** The usage of steps that are known to cost nothing. */
export const NO_COST: Usage = { ...NO_USAGE, costUsd: 0 }

const OPTIONAL_COUNTS = ['cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens', 'webSearches'] as const

/** The sum. A count that only some responses report is the sum of these; a cost is known only if all costs are. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  }
  for (const name of OPTIONAL_COUNTS) {
    const [first, second] = [a[name], b[name]]
    if (first !== undefined || second !== undefined) sum[name] = (first ?? 0) + (second ?? 0)
  }
  const [first, second] = [a.costUsd, b.costUsd]
  if (first !== undefined && second !== undefined) sum.costUsd = roundDollars(first + second)
  if (a.estimated || b.estimated) sum.estimated = true
  return sum
}

/** What the record of a run says about it. */
type Used = { steps: number; usage: Usage; lostSteps: { usage?: Usage }[]; lostUsage: Usage | null }

/** What a run has used: its stored steps, those that could not be stored, and responses that could not be used. */
export function totalUsage({ steps, usage, lostSteps, lostUsage }: Used): Usage {
  const all = [steps > 0 && usage, ...lostSteps.map((step) => step.usage), lostUsage]
  const used = all.filter((each) => !!each)
  return used.length > 0 ? used.reduce(addUsage) : usage
}

/** What a run has used, with the agents that it called as tools; null if nothing. */
export function usageOfTree({ usage, childUsage }: { usage: Usage; childUsage: Usage | null }): Usage | null {
  const used = [isUnused(usage) ? null : usage, childUsage].filter((each) => each !== null)
  return used.length > 0 ? used.reduce(addUsage) : null
}

export const isUnused = ({ inputTokens, outputTokens }: Usage): boolean => inputTokens + outputTokens === 0

/** To a billionth of a dollar, so that sums show no binary fractions. */
export const roundDollars = (amount: number): number => Math.round(amount * 1e9) / 1e9
