import type { Execution } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import {
  BYTES_PER_TOKEN,
  EXAMPLES_TOKENS,
  type Example,
  type LearningScope,
  MAX_CANDIDATES,
  MAX_EXAMPLES,
  type Teachers,
} from '../../core/learning.ts'
import type { ExecutionStore } from '../../core/ports.ts'
import type { Adapter } from '../../schema/adapt/adapt-input.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { examplesPrompt } from './prompt.ts'
import { type Match, similaritiesTo } from './similarity.ts'

type RecallParams = {
  executions: ExecutionStore
  execution: Execution
  journal: Pick<Journal, 'recordExamples' | 'recorded'>
  checkOutput: Validator
  teachers: Teachers
  /** Adapter of the version that runs: example inputs are shown as it would receive them. */
  adapt: Adapter
}

/**
 * The examples of a run. They are chosen once, and their ids are recorded before the first model request: a worker that
 * resumes the run shows the same ones, except those deleted in the meantime.
 * @throws AttemptStopped `LeaseLost`
 */
export async function recallExamples(params: RecallParams): Promise<Example[]> {
  const { executions, execution, journal, checkOutput, adapt, teachers } = params
  const { organizationId, agentId, tenantId, learnedFrom } = execution
  const learner = { organizationId, agentId, tenantId, teachers }
  const adapted = (examples: Example[]) =>
    examples.map((example) => ({ ...example, input: adapt(example.input).input }))
  if (learnedFrom) return adapted(await executions.getExamples({ ...learner, ids: learnedFrom }))
  // If the first steps ran without examples, none are added later.
  if (journal.recorded.length > 0) return []
  const candidates = adapted(await executions.listExamples({ ...learner, limit: MAX_CANDIDATES }))
  const chosen = chooseExamples({ execution, candidates, checkOutput })
  await journal.recordExamples(chosen.map(({ id }) => id))
  return chosen
}

/** Minimum share of the input's words that an example must contain: below it, texts share little but grammar. */
const MIN_SHARE = 0.25

/** Factor on the similarity of examples with feedback. */
const PREFERENCE = { corrected: 2, liked: 1.5, unrated: 1 } as const

type Params = {
  execution: LearningScope & Pick<Execution, 'id' | 'input'>
  candidates: Example[]
  /** Output check of the version that runs. */
  checkOutput: Validator
}

/** Chooses the examples of a run: same scope, best first, within the limits of number and size. */
export function chooseExamples({ execution, candidates, checkOutput }: Params): Example[] {
  const own = candidates.filter((candidate) => isAllowed(candidate, execution))
  const usable = bestOfEachInput(withoutDisliked(own)).filter(
    ({ output }) => checkOutput(output).length === 0,
  )
  const matches = similaritiesTo(
    execution.input,
    usable.map(({ input }) => input),
  )
  const inputHash = hashJson(execution.input)
  const ranked = usable
    .map((example, index) => {
      const isSame = hashJson(example.input) === inputHash
      return { example, rank: isSame ? Number.POSITIVE_INFINITY : rankOf(example, matches.get(index)) }
    })
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => (a.rank === b.rank ? newestFirst(a.example, b.example) : b.rank - a.rank))
  return withinBudget(ranked.map(({ example }) => example))
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

const preferenceOf = ({ isCorrected, rating }: Example): number =>
  PREFERENCE[isCorrected ? 'corrected' : rating === 1 ? 'liked' : 'unrated']

/** Ids are UUIDv7, so id order is time order. */
const newestFirst = (a: Example, b: Example): number => (a.id < b.id ? 1 : -1)

function rankOf(example: Example, match: Match | undefined): number {
  return match && match.share >= MIN_SHARE ? match.score * preferenceOf(example) : 0
}

/** Skips examples that exceed the remaining token budget. */
function withinBudget(ranked: Example[]): Example[] {
  const chosen: Example[] = []
  for (const example of ranked) {
    if (chosen.length === MAX_EXAMPLES) break
    const bytes = Buffer.byteLength(examplesPrompt([...chosen, example]).join())
    if (bytes <= EXAMPLES_TOKENS * BYTES_PER_TOKEN) chosen.push(example)
  }
  return chosen
}
