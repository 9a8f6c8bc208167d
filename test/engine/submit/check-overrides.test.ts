import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ExecutionSettings, Version } from '../../../lib/core/agent.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { submitAsync } from '../../../lib/engine/submit/accept.ts'
import { checkOverrides, type RunOverrides } from '../../../lib/engine/submit/check-request.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const SETTINGS = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null }

const aVersion = (given: Partial<ExecutionSettings> = {}, model: string | null = 'openai/gpt-5') => {
  const execution = { ...SETTINGS, ...given }
  return { slug: 'writer', model, code: false, tools: [] as unknown, execution } as Version
}

const check = (version: Version, overrides: RunOverrides) =>
  checkOverrides(version, overrides, null).then(
    () => 'ok',
    ({ name, message }: Error) => `${name}: ${message}`,
  )

describe('checkOverrides', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.each([
    [undefined, 1, true],
    [undefined, 500, true],
    [10, 10, true],
    [10, 1, true],
    [10, 11, false],
    [1, 500, false],
  ])('maxAgentSteps of the document %s, of the call %i: %s', async (own, maxAgentSteps, isAllowed) => {
    const result = await check(aVersion(own === undefined ? {} : { maxAgentSteps: own }), { maxAgentSteps })
    expect(result).toBe(
      isAllowed
        ? 'ok'
        : `InvalidQueryParameter: maxAgentSteps must be at most ${own}, the maximum that the agent writer sets.`,
    )
  })

  it.each<[string, string[] | undefined, string | null, string, string]>([
    ['of the same provider', undefined, 'openai/gpt-5', 'openai/gpt-5-mini:high', 'ok'],
    ['of another provider', undefined, 'openai/gpt-5', 'anthropic/claude', 'those of the provider openai'],
    ['of the default model', undefined, null, 'bedrock/claude', 'ok'],
    ['of another than the default', undefined, null, 'openai/gpt-5', 'those of the provider bedrock'],
    ['that is listed', ['anthropic/claude'], 'openai/gpt-5', 'anthropic/claude', 'ok'],
    ['that is listed, with a level', ['anthropic/claude'], 'openai/gpt-5', 'anthropic/claude:low', 'ok'],
    ['with the listed level', ['openai/o:low'], 'openai/gpt-5', 'openai/o:low', 'ok'],
    ['with another level', ['openai/o:low'], 'openai/gpt-5', 'openai/o:high', 'openai/o:low'],
    ['without the listed level', ['openai/o:low'], 'openai/gpt-5', 'openai/o', 'openai/o:low'],
    ['that is not listed', ['openai/a', 'openai/b'], 'openai/gpt-5', 'openai/c', 'openai/a, openai/b'],
    ['of a list without any', [], 'openai/gpt-5', 'openai/gpt-5-mini', 'none but its own'],
    ['that is its own', [], 'openai/gpt-5:low', 'openai/gpt-5:low', 'ok'],
    ['that is its own with another level', [], 'openai/gpt-5', 'openai/gpt-5:high', 'none but its own'],
    ['that differs in case', ['openai/a'], 'openai/gpt-5', 'openai/A', 'openai/a'],
  ])('a model %s', async (_, models, own, model, expected) => {
    vi.stubEnv('DEFAULT_MODEL', 'bedrock/nova')
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      vi.stubEnv(name, 'key')
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    const result = await check(aVersion(models ? { models } : {}, own), { model })
    expect(result).toBe(
      expected === 'ok'
        ? 'ok'
        : `InvalidModelOverride: The agent writer does not allow the model "${model}". Allowed models: ${expected}.`,
    )
  })

  it('allows the models of the document, whatever it lists, and their providers if it lists none', async () => {
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY']) vi.stubEnv(name, 'key')
    const fallbacks = ['anthropic/claude']
    const listed = { ...aVersion({ models: [] }, 'openai/gpt-5'), fallbacks }
    expect(await check(listed, { model: 'anthropic/claude' })).toBe('ok')
    expect(await check(listed, { model: 'anthropic/other' })).toContain('none but its own')
    const open = { ...aVersion({}, 'openai/gpt-5'), fallbacks }
    expect(await check(open, { model: 'anthropic/other' })).toBe('ok')
    expect(await check(open, { model: 'bedrock/nova' })).toContain(
      'Allowed models: those of the provider openai and the provider anthropic.',
    )
  })

  it('allows any provider if neither the document nor the service names a model', async () => {
    vi.stubEnv('DEFAULT_MODEL', undefined)
    vi.stubEnv('OPENAI_API_KEY', 'key')
    expect(await check(aVersion({}, null), { model: 'openai/gpt-5' })).toBe('ok')
  })

  it('rejects a model that cannot search the web for an agent that has it do so', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'key')
    const version = { ...aVersion(), tools: [{ name: 'web_search', webSearch: { maxUses: 5 } }] } as Version
    expect(await check(version, { model: 'openai/gpt-5-mini' })).toBe('ok')
    expect(await check(version, { model: 'openai/gpt-4.1-nano' })).toContain(
      'InvalidModelOverride: The provider of the model openai/gpt-4.1-nano does not search the web for it',
    )
  })

  it('names the setting that an allowed model lacks, and none for one that is not allowed', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined)
    const version = aVersion({}, 'anthropic/claude')
    expect(await check(version, { model: 'anthropic/other' })).toContain('ANTHROPIC_API_KEY')
    expect(await check(aVersion(), { model: 'anthropic/claude' })).not.toContain('ANTHROPIC_API_KEY')
  })
})

const table = await engineTable()

const { id: organizationId, publish } = await newOrganization(table)

const http = { method: 'GET', url: 'https://shop.example/orders' }
const ORDERS = { name: 'orders', description: 'Orders.', input: {}, http }

const withTools = (...tools: object[]) =>
  aModelAgent({ organizationId, slug: `agent-${tools.length}`, tools })

describe('an asynchronous run', () => {
  it.each([
    ['a model agent', true, () => withTools()],
    ['a model agent with a tool', true, () => withTools(ORDERS)],
    ['a model agent that calls another agent', false, () => withTools({ name: 'echo', agent: 'echo' })],
    ['a code agent', false, () => publish('echo')],
  ])('of %s shares its worker: %j', async (_, sharesWorker, create) => {
    const version = await create()
    const sent: QueuedExecution[] = []
    const engine = {
      ...engineOn(table),
      idempotency: openStores(table).idempotency,
      queue: { send: async (message: QueuedExecution) => void sent.push(message) },
      admit: <T>(_: string, record: () => Promise<T>) => record(),
      syncDeadlineMs: 0,
    }
    const input = { text: 'x', question: 'Why?' }
    const { id } = await submitAsync(engine, { version, input, tenantId: null, options: runOptions() })
    expect(sent).toMatchObject([{ executionId: id, sharesWorker }])
    expect(await engine.executions.get({ organizationId, id })).toMatchObject({ sharesWorker })
  })
})
