import type { Execution } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import {
  BYTES_PER_TOKEN,
  EXAMPLES_TOKENS,
  type Example,
  type LearningScope,
  MAX_EXAMPLES,
} from '../../core/learning.ts'
import { namesOf, searchTextOf } from '../../core/search-text.ts'
import { estimateTokens } from '../../models/estimate-tokens.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import { examplesPrompt } from './prompt.ts'
import { MIN_SHARE, similaritiesTo } from './similarity.ts'

type Params = {
  execution: LearningScope & Pick<Execution, 'id' | 'input'>
  candidates: Example[]
  /** Output check of the version that runs. */
  checkOutput: Validator
  /** Estimated tokens of a request without examples. */
  requestTokens?: number
  /** Ids of rated executions, best first. Others are compared by their words. */
  order?: string[]
}

/**
 * Chooses the examples of a run: same scope, best first, within the limits of number and size. Equal inputs come first,
 * then corrected results, liked ones, and those that nobody rated.
 */
export function chooseExamples({
  execution,
  candidates,
  checkOutput,
  requestTokens,
  order,
}: Params): Example[] {
  const own = candidates.filter((candidate) => isAllowed(candidate, execution))
  const usable = bestOfEachInput(withoutDisliked(own)).filter(
    ({ output }) => checkOutput(output).length === 0,
  )
  const matches = similaritiesTo(
    searchTextOf(execution.input),
    namesOf(execution.input),
    usable.map(({ input }) => searchTextOf(input)),
  )
  const inputHash = hashJson(execution.input)
  const ranks = new Map(order?.map((id, index) => [id, order.length - index]))
  const ranked = usable
    .map((example, index) => {
      const { score = 0, share = 0 } = matches[index] ?? {}
      const rank = ranks.get(example.id)
      const isSame = hashJson(example.input) === inputHash
      const isSimilar = isSame || rank !== undefined || example.isCorrected || share >= MIN_SHARE
      return { example, isSame, isSimilar, rank: rank ?? score }
    })
    .filter(({ isSimilar }) => isSimilar)
    .sort(
      (a, b) =>
        Number(b.isSame) - Number(a.isSame) ||
        preferenceOf(b.example) - preferenceOf(a.example) ||
        b.rank - a.rank ||
        newestFirst(a.example, b.example),
    )
  return withinBudget(
    ranked.map(({ example }) => example),
    requestTokens,
  )
}

/** The store queries only this scope; checked again because a leak between tenants must never happen. */
function isAllowed(candidate: Example, execution: Params['execution']): boolean {
  return (
    candidate.organizationId === execution.organizationId &&
    candidate.agentId === execution.agentId &&
    candidate.tenantId === execution.tenantId &&
    candidate.id !== execution.id &&
    // A cached copy adds nothing, unless a client rated it: clients know only its id.
    (!candidate.cached || candidate.rating !== null)
  )
}

/** Removes results with a negative rating and no correction, and unrated duplicates of them. */
function withoutDisliked(examples: Example[]): Example[] {
  const isDisliked = ({ rating, isCorrected }: Example) => rating === -1 && !isCorrected
  const resultOf = ({ input, output }: Example) => hashJson([input, output])
  const disliked = new Set(examples.filter(isDisliked).map(resultOf))
  return examples.filter((example) => example.isCorrected || !disliked.has(resultOf(example)))
}

/** One example per input, so that none repeats or contradicts another: corrected, then liked, then newest. */
function bestOfEachInput(examples: Example[]): Example[] {
  const best = new Map<string, Example>()
  for (const example of [...examples].sort(byPreference)) {
    const input = hashJson(example.input)
    if (!best.has(input)) best.set(input, example)
  }
  return [...best.values()]
}

const byPreference = (a: Example, b: Example): number =>
  preferenceOf(b) - preferenceOf(a) || newestFirst(a, b)

const preferenceOf = ({ isCorrected, rating }: Example): number => (isCorrected ? 2 : rating === 1 ? 1 : 0)

/** Ids are UUIDv7, so id order is time order. */
const newestFirst = (a: Example, b: Example): number => (a.id < b.id ? 1 : -1)

/** What examples after the first may add to the tokens of a request; to a small one, a few short ones. */
const MAX_SHARE = 0.5
const MIN_TOKENS = 120

/** Skips examples that exceed the remaining token budget; a note that does not fit is left out. */
export function withinBudget(ranked: Example[], requestTokens = Number.POSITIVE_INFINITY): Example[] {
  const chosen: Example[] = []
  const fits = (example: Example) => {
    const prompt = examplesPrompt([...chosen, example]).join()
    if (Buffer.byteLength(prompt) > EXAMPLES_TOKENS * BYTES_PER_TOKEN) return false
    return chosen.length === 0 || estimateTokens(prompt) <= Math.max(MAX_SHARE * requestTokens, MIN_TOKENS)
  }
  for (const example of ranked) {
    if (chosen.length === MAX_EXAMPLES) break
    const fitting = [example, { ...example, note: null }].find(fits)
    if (fitting) chosen.push(fitting)
  }
  return chosen
}
