import type { Version } from '../../../lib/core/agent.ts'
import type { Feedback } from '../../../lib/core/execution.ts'
import { type Execution, failure, NO_USAGE } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { ExecutionStore } from '../../../lib/core/ports/executions.ts'
import { system } from '../../../lib/system.ts'
import { executionOf, leased } from '../engine/executions.ts'
import type { RecordedRequest } from '../scripted-model/recorded-request.ts'

export const QUESTION = 'When will my parcel arrive?'

export type Past = {
  question?: string
  answer?: string | null
  output?: JsonObject
  feedback?: Partial<Feedback>
  /** Whether the feedback comes from a token that may teach. */
  isReview?: boolean
  tenantId?: string | null
  cached?: boolean
}

/** Stores past executions, and feedback on them. */
export function pastExecutions(executions: ExecutionStore) {
  /** A past execution of a version. `answer: null`: it ended in ERROR. */
  async function past(version: Version, given: Past = {}): Promise<Execution> {
    const { question = QUESTION, answer = 'Tomorrow.', feedback, tenantId = null, cached = false } = given
    const lease = { owner: 'past', expiresAt: Date.now() + 60_000 }
    const accepted = executionOf(version, { tenantId, input: { question }, lease })
    const execution = { ...accepted, cached }
    await executions.create({ execution })
    const output = given.output ?? { answer }
    const common = { steps: 1, usage: NO_USAGE, model: 'a/b' }
    const outcome =
      answer === null
        ? failure({ code: 'AgentFailed', message: '' })
        : { status: 'SUCCESS' as const, output, ...common }
    await executions.finish({
      execution: leased(execution, 'past'),
      outcome,
      finishedAt: new Date().toISOString(),
    })
    if (feedback) await rate(execution, feedback, given.isReview)
    return execution
  }

  async function rate({ organizationId, id }: Execution, given: Partial<Feedback>, isReview = true) {
    const updatedAt = new Date().toISOString()
    const feedback: Feedback = { rating: -1, correctedOutput: null, note: null, ...given, updatedAt }
    await executions.giveFeedback({ organizationId, id, feedback, isReview, writer: system.newId() })
  }

  return { past, rate }
}

type Shown = { input: JsonObject; output: JsonObject; note?: string; unreviewed?: boolean }

/** The examples in the first message to a model. */
export function examplesIn(message: string | undefined): Shown[] {
  const [, list] = /<examples>\n([\s\S]*)\n<\/examples>/.exec(message ?? '') ?? []
  return (list ?? '').split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
}

export const answersIn = (message: string | undefined) =>
  examplesIn(message).map(({ output }) => output.answer)

/** The first message of a request: what the user says. */
export function messageOf(request: RecordedRequest | undefined): string {
  const [first] = request?.history ?? []
  return first?.type === 'text' && first.role === 'user' ? first.text : ''
}
