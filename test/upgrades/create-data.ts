import { fileURLToPath } from 'node:url'
import { newToken } from '../../lib/access/tokens.ts'
import { publishAgent } from '../../lib/agents/lifecycle/publish-agent.ts'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import { CANCELLED, type Execution } from '../../lib/core/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { endExecution } from '../../lib/engine/end-execution.ts'
import { giveFeedback } from '../../lib/engine/learning/feedback.ts'
import { type SubmitEngine, submitAsync } from '../../lib/engine/submit/accept.ts'
import type { RunOverrides } from '../../lib/engine/submit/check-overrides.ts'
import { buildRunRequest } from '../../lib/engine/submit/run-request.ts'
import { submitSync } from '../../lib/engine/submit/submit.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import type { ScriptedModel } from '../support/scripted-model/start-scripted-model.ts'

/** What the tests need to know of the exported table. Times are milliseconds since the epoch. */
export type Manifest = {
  /** The one that wrote the table. */
  commit: string
  exportedAt: number
  organizationId: string
  /** Accepted by the table's tokens until it is exported, and after that. */
  token: string
  agents: string[]
  executions: Record<string, string>
  /** The request that started the execution `success`. */
  request: { slug: string; json: string; overrides: RunOverrides; idempotencyKey: string }
}

/** The model of the agent `ask`. */
export const MODEL = 'baseline'

const WORKER = 'a worker that has died'
/** More than a record stores inline. */
const LARGE_TEXT = 'word '.repeat(3_300)
const callTool = { calls: [{ id: 'call-1', name: 'measure', input: { text: 'three short words' } }] }
export const answer = { calls: [{ id: 'call-2', name: 'final_answer', input: { answer: 'Three.' } }] }

const request: Manifest['request'] = {
  slug: 'measure-text',
  // A name and numbers that have to be adapted.
  json: '{"Text":"one two","factor":12345678901234567890}',
  overrides: { tenantId: 'tenant-1', useCache: true },
  idempotencyKey: 'order 1',
}

/** Writes at least one item of every kind, as the service writes it. */
export async function createData(
  engine: SubmitEngine & Stores,
  scripted: ScriptedModel,
): Promise<Omit<Manifest, 'commit'>> {
  const { system } = engine
  const organizationId = system.newId()
  const createdAt = new Date(system.now()).toISOString()
  await engine.organizations.create({ organization: { id: organizationId, name: 'Baseline', createdAt } })
  const token = await createTokens(engine, organizationId)
  const measure = await publish(engine, organizationId, 'measure-text', false)
  const ask = await publish(engine, organizationId, 'ask', false)
  await publish(engine, organizationId, 'ask', true)

  const run = async (input: JsonObject, overrides: RunOverrides = {}, key?: string) =>
    (await submitSync(engine, await buildRunRequest(measure, input, overrides, key))).execution
  const question = (overrides: RunOverrides = {}) =>
    buildRunRequest(ask, { question: 'How many words?' }, overrides)
  const accept = async (text: string) => submitAsync(engine, await buildRunRequest(measure, { text }, {}))
  const input = parseJson(request.json) as JsonObject
  const rate = (id: string, correctedOutput: JsonObject | null) =>
    giveFeedback(engine, {
      organizationId,
      id,
      feedback: { rating: 1, note: 'Good.', correctedOutput },
      isReview: true,
    })

  const success = await run(input, request.overrides, request.idempotencyKey)
  const cached = await run(input, request.overrides)
  const failed = await run({ text: '' })
  const largeCached = await run({ text: `${LARGE_TEXT}cached` }, { useCache: true })
  const large = await run({ text: LARGE_TEXT }, { useCache: true })
  await rate(large.id, { words: 3_300, text: LARGE_TEXT })
  const deleted = await run({ text: 'deleted' }, { useCache: true })
  await engine.executions.delete({ organizationId, id: deleted.id, now: system.now() })

  scripted.script(MODEL, [callTool, answer, answer])
  const { execution: answered } = await submitSync(engine, await question())
  await rate(answered.id, null)
  const { execution: learned } = await submitSync(engine, await question({ useDynamicLearning: true }))

  const cancelled = await accept('cancelled')
  await takeOneStep(engine, cancelled)
  await endExecution(engine, { organizationId, id: cancelled.id, error: CANCELLED })
  const queued = await accept('a b c')
  const claimed = await accept('a b')
  await takeOneStep(engine, claimed)
  scripted.script(MODEL, (_, index) => (index === 0 ? callTool : { status: 503 }))
  const released = await submitAsync(engine, await question())
  const message = { queue: engine.queue, receiveCount: 1, changeVisibility: async () => undefined }
  await processMessage(engine, released.id, { message })

  const executions = {
    success,
    cached,
    failed,
    largeCached,
    large,
    deleted,
    answered,
    learned,
    cancelled,
    queued,
    claimed,
    released,
  }
  return {
    exportedAt: system.now(),
    organizationId,
    token,
    agents: ['measure-text', 'ask'],
    executions: Object.fromEntries(Object.entries(executions).map(([name, { id }]) => [name, id])),
    request,
  }
}

/** Creates a token, one that expires and one that is revoked. Returns the text of the first. */
async function createTokens(
  { tokens, system }: SubmitEngine & Stores,
  organizationId: string,
): Promise<string> {
  const create = async (name: string, lifetimeMs: number | null) => {
    const created = newToken({ system, organizationId, name, createdBy: organizationId, lifetimeMs })
    await tokens.create({ token: created.token })
    return created
  }
  const { text } = await create('permanent', null)
  await create('expiring', 86_400_000)
  const { token } = await create('revoked', null)
  await tokens.revoke({ hash: token.hash, revokedAt: new Date(system.now()).toISOString() })
  return text
}

export async function publish(
  { agents, system }: SubmitEngine,
  organizationId: string,
  slug: string,
  draft: boolean,
): Promise<Version> {
  const { agent, problems } = await loadFolder(fileURLToPath(new URL(`agents/${slug}`, import.meta.url)))
  if (!agent) throw new Error(JSON.stringify(problems))
  const published = await publishAgent({
    store: agents,
    system,
    organizationId,
    createdBy: organizationId,
    agent,
    draft,
  })
  return published.version
}

/** What a worker writes before it dies: its claim, and a step with a value that computing it again would not return. */
async function takeOneStep({ executions, steps, system }: SubmitEngine, { id }: Execution): Promise<void> {
  const now = system.now()
  const lease = { owner: WORKER, expiresAt: now + 60_000 }
  await executions.claim({ id, lease, now })
  const at = new Date(now).toISOString()
  const step = {
    number: 1,
    kind: 'CODE',
    name: 'count words',
    value: 41,
    startedAt: at,
    finishedAt: at,
  } as const
  const progress = { steps: 1, usage: { inputTokens: 0, outputTokens: 0 }, model: null }
  await executions.renew({ id, lease, progress })
  await steps.append({ executionId: id, owner: WORKER, step, progress })
}
