import type { Execution } from '../../core/execution.ts'
import {
  BYTES_A_TOKEN,
  EXAMPLES_TOKENS,
  type Example,
  type Learner,
  MAX_EXAMPLES,
} from '../../core/learning.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import { fingerprintOf } from '../submit/request-hash.ts'
import { examplesPrompt } from './prompt.ts'
import { type Match, similaritiesTo } from './similarity.ts'

/** The share of the input's words that an example must have: below it, texts have little but their grammar in common. */
const MIN_SHARE = 0.25

/** How much closer than it is an example counts whose output somebody has corrected or liked. */
const PREFERENCE = { corrected: 2, liked: 1.5, unrated: 1 } as const

type Params = {
  execution: Learner & Pick<Execution, 'id' | 'input'>
  candidates: Example[]
  /** Of the output of the version that runs. */
  checkOutput: Validator
}

/** The past executions that a run learns from: its own kind's, the best first, few, and small enough together. */
export function chooseExamples({ execution, candidates, checkOutput }: Params): Example[] {
  const own = candidates.filter((candidate) => isAllowed(candidate, execution))
  const usable = bestOfEachInput(withoutDisliked(own)).filter(
    ({ output }) => checkOutput(output).length === 0,
  )
  const matches = similaritiesTo(
    execution.input,
    usable.map(({ input }) => input),
  )
  const wanted = fingerprintOf(execution.input)
  const ranked = usable
    .map((example, place) => {
      const isSame = fingerprintOf(example.input) === wanted
      return { example, rank: isSame ? Number.POSITIVE_INFINITY : rankOf(example, matches.get(place)) }
    })
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => (a.rank === b.rank ? newestFirst(a.example, b.example) : b.rank - a.rank))
  return thatFit(ranked.map(({ example }) => example))
}

/** The store has asked for these alone; what must never happen is not left to one place. */
function isAllowed(candidate: Example, execution: Params['execution']): boolean {
  return (
    candidate.organizationId === execution.organizationId &&
    candidate.agentId === execution.agentId &&
    candidate.tenantId === execution.tenantId &&
    candidate.id !== execution.id &&
    // A copy from the cache tells nothing new, unless somebody has rated it: they know no other id.
    (!candidate.cached || candidate.rating !== null)
  )
}

/** Without what was rated bad and not corrected, and without the same results where nobody has rated them. */
function withoutDisliked(examples: Example[]): Example[] {
  const isDisliked = ({ rating, isCorrected }: Example) => rating === -1 && !isCorrected
  const resultOf = ({ input, output }: Example) => fingerprintOf([input, output])
  const disliked = new Set(examples.filter(isDisliked).map(resultOf))
  return examples.filter((example) => example.isCorrected || !disliked.has(resultOf(example)))
}

/** One for each input, so that examples neither repeat nor contradict one another: a corrected one, a liked one, the newest. */
function bestOfEachInput(examples: Example[]): Example[] {
  const best = new Map<string, Example>()
  for (const example of [...examples].sort(byPreference)) {
    const input = fingerprintOf(example.input)
    if (!best.has(input)) best.set(input, example)
  }
  return [...best.values()]
}

const byPreference = (a: Example, b: Example): number =>
  preferenceOf(b) - preferenceOf(a) || newestFirst(a, b)

const preferenceOf = ({ isCorrected, rating }: Example): number =>
  PREFERENCE[isCorrected ? 'corrected' : rating === 1 ? 'liked' : 'unrated']

/** Ids are UUIDv7: their order is that of time. */
const newestFirst = (a: Example, b: Example): number => (a.id < b.id ? 1 : -1)

function rankOf(example: Example, match: Match | undefined): number {
  return match && match.share >= MIN_SHARE ? match.score * preferenceOf(example) : 0
}

/** One that does not fit any more is left out whole, and the next one may fit. */
function thatFit(ranked: Example[]): Example[] {
  const chosen: Example[] = []
  for (const example of ranked) {
    if (chosen.length === MAX_EXAMPLES) break
    const bytes = Buffer.byteLength(examplesPrompt([...chosen, example]).join())
    if (bytes <= EXAMPLES_TOKENS * BYTES_A_TOKEN) chosen.push(example)
  }
  return chosen
}
