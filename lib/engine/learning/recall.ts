import type { Execution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import {
  type Embedding,
  type Example,
  type Lesson,
  MAX_EXAMPLES,
  MAX_LESSONS,
  MAX_UNRATED,
  type Teachers,
} from '../../core/learning.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { describeCause, logger } from '../../logger.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { chooseExamples, withinBudget } from './choose.ts'
import { rankLessons } from './rank.ts'

type RecallParams = {
  executions: ExecutionStore
  execution: Execution
  journal: Pick<Journal, 'recordExamples' | 'recorded'>
  checkOutput: Validator
  teachers: Teachers
  /** Whether results that nobody rated are examples, too. */
  unrated: boolean
  /** What the model of the version that runs would be shown of an input. */
  adapt: (input: JsonObject) => JsonObject
  /** Estimated tokens of a request without examples. */
  requestTokens: number
  /** The embedding of the input; null if there is no model, or if it does not respond in time. */
  embed: () => Promise<Embedding | null>
}

/**
 * The examples of a run. They are chosen once, and their ids are recorded before the first model request: a worker that
 * resumes the run shows the same ones, except those deleted in the meantime. A run whose examples cannot be read goes
 * on without any.
 * @throws AttemptStopped `LeaseLost`
 */
export async function recallExamples(params: RecallParams): Promise<Example[]> {
  const { execution, journal, requestTokens } = params
  if (execution.learnedFrom) return withinBudget(await read(params, execution.learnedFrom), requestTokens)
  // If the first steps ran without examples, none are added later.
  if (journal.recorded.length > 0) return []
  const chosen = await withinTime(findExamples(params)).catch((error: unknown) => {
    const cause = describeCause(error)
    logger.warn('A run continues without examples.', { executionId: execution.id, cause })
    return []
  })
  await journal.recordExamples(chosen.map(({ id }) => id))
  return chosen
}

/** How long a run waits for its examples. */
const MAX_WAIT_MS = 5_000

function withinTime<T>(result: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const error = new Error(`Reading the examples took more than ${MAX_WAIT_MS} ms.`)
  const timer = setTimeout(reject, MAX_WAIT_MS, error)
  return Promise.race([result, late]).finally(() => clearTimeout(timer))
}

/** Records that a run reads: a few at a time, until enough of them can be shown. */
const BATCH = 5
const MAX_READ = 10

async function findExamples(params: RecallParams): Promise<Example[]> {
  const { executions, execution, checkOutput, requestTokens, embed } = params
  const lessons = await executions.listLessons({ ...learnerOf(params), limit: MAX_LESSONS })
  const embedding = lessons.some((lesson) => lesson.embedding) ? await embed() : null
  const ranked = rankLessons({ input: execution.input, embedding, lessons })
  const order = ranked.map(({ id }) => id)
  const candidates: Example[] = []
  const choose = () => chooseExamples({ execution, candidates, checkOutput, requestTokens, order })
  while (ranked.length > 0 && candidates.length < MAX_READ && choose().length < MAX_EXAMPLES) {
    const batch = ranked.splice(0, BATCH)
    const examples = await read(params, idsOf(batch))
    candidates.push(...examples)
    // What a version returned may not match the schema of the one that runs. Others are tried first.
    const mismatching = new Set(idsOf(examples.filter(({ output }) => checkOutput(output).length > 0)))
    const versions = new Set(batch.flatMap(({ id, versionId }) => (mismatching.has(id) ? [versionId] : [])))
    const isLate = ({ versionId }: Lesson) => Number(versions.has(versionId))
    ranked.sort((a, b) => isLate(a) - isLate(b))
  }
  if (params.unrated && choose().length < MAX_EXAMPLES) {
    const newest = await executions.listExamples({ ...learnerOf(params), limit: MAX_UNRATED })
    const known = new Set(idsOf(candidates))
    candidates.push(
      ...adapted(
        params,
        newest.filter(({ id }) => !known.has(id)),
      ),
    )
  }
  return choose()
}

const idsOf = (list: { id: string }[]): string[] => list.map(({ id }) => id)

function learnerOf({ execution, teachers }: RecallParams) {
  const { organizationId, agentId, tenantId } = execution
  return { organizationId, agentId, tenantId, teachers }
}

const read = async (params: RecallParams, ids: string[]): Promise<Example[]> =>
  adapted(params, await params.executions.getExamples({ ...learnerOf(params), ids }))

const adapted = ({ adapt }: RecallParams, examples: Example[]): Example[] =>
  examples.map((example) => ({ ...example, input: adapt(example.input) }))
