import { describe, expect, it } from 'vitest'
import type { TestCase } from '../../authoring/cases/case-file.ts'
import { runCase } from '../../authoring/cases/run-case.ts'
import { recordCase, replayCase } from '../../authoring/cases/run-cases.ts'
import { recordingOf } from '../../authoring/recording/from-journal.ts'
import { maskCredentials } from '../../authoring/recording/mask-credentials.ts'
import { type Recording, stepsOf } from '../../authoring/recording/recording.ts'
import type { Version } from '../../lib/core/agent.ts'
import { aModelAgent, httpTool } from '../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../support/engine/scripted-engine.ts'
import type { Script } from '../support/scripted-model/turn.ts'
import { serveMcp } from '../tools/kinds/mcp-server.ts'

const { engine, server, scriptModel } = await startScriptedEngine()
const { environment } = engine
const lookUp = (id: string) => ({ name: 'look_up', input: { id } })

const callsOf = ({ run }: Recording) => (run ? stepsOf(run) : []).flatMap(({ calls }) => calls)

type Secrets = { environment: Record<string, string>; names: string[] }
const NO_SECRETS: Secrets = { environment: {}, names: [] }

/** Runs a case on the models of the version. */
async function recordOn(version: Version, secrets = NO_SECRETS) {
  const testCase = { name: '', input: { question: 'Why?' }, expect: {} }
  const ids: string[] = []
  const onStep = ({ id }: { id: string }) => void ids.push(id)
  const { failures } = await runCase({ stores: engine, version, testCase, model: null, environment, onStep })
  expect(failures).toEqual([])
  return { testCase, found: await recordingOfId(version, ids.at(-1) ?? '', secrets) }
}

async function recordingOfId({ organizationId }: Version, id: string, secrets = NO_SECRETS) {
  const execution = await engine.executions.get({ organizationId, id })
  if (!execution) throw new Error('There is no execution.')
  const { mask } = await maskCredentials(secrets.environment, secrets.names)
  return recordingOf({ stores: engine, environment, mask }, execution, { case: '', defaultModel: null })
}

/** Runs a case as `--record` does. Returns its recording, and the one that the stored execution gives. */
async function recordBoth(version: Version, script: Script, approvals = {}) {
  const { model } = scriptModel(script)
  const ids: string[] = []
  const params = { stores: engine, version, model, environment }
  const testCase = { name: '', input: { question: 'Why?' }, approvals, expect: {} }
  const { result, recording } = await recordCase({
    ...params,
    testCase,
    onStep: ({ id }) => void ids.push(id),
  })
  expect(result.failures).toEqual([])
  const replay = (changed: Partial<TestCase> = {}) =>
    replayCase({ ...params, environment: {}, testCase: { ...testCase, ...changed } }, recording)
  return { recorded: recording, found: await recordingOfId(version, ids.at(-1) ?? ''), replay }
}

describe('recordingOf', () => {
  const mcpTool = async () => {
    const mcp = await serveMcp()
    return { name: 'crm', mcp: { url: mcp.url, allowedHosts: [mcp.host] } }
  }

  it('has what --record stores: the journal without what differs in each run', async () => {
    const tools = [httpTool(server, 'look_up', '/things/{id}'), await mcpTool()]
    const script = [
      { text: 'Let me look.', calls: [lookUp('a'), lookUp('a'), { name: 'nothing', input: {} }] },
      { calls: [{ name: 'crm_find_customer', input: { name: 'Ada' } }, lookUp('b')] },
      { text: 'Only a text.' },
      answer,
    ]
    const { recorded, found, replay } = await recordBoth(await aModelAgent({ tools }), script)
    expect(found.run?.steps).toHaveLength(4)
    expect(Object.keys(found.run?.declarations ?? {})).toEqual(['crm'])
    expect(callsOf(found).map(({ name, result }) => [name, result?.ok])).toEqual([
      ['look_up', true],
      ['look_up', true],
      ['nothing', undefined],
      ['crm_find_customer', true],
      ['look_up', true],
      ['final_answer', undefined],
    ])
    expect(found).toEqual(recorded)
    expect(JSON.stringify(found)).not.toMatch(/\d{4}-\d\d-\d\dT|startedAt|attempt|costUsd|executionId/)
    expect((await replay()).failures).toEqual([])
  })

  it('has calls as they were approved, and no result of one that was rejected', async () => {
    const tools = [{ ...httpTool(server, 'look_up', '/things/{id}'), approval: true }]
    const version = await aModelAgent({ tools })
    const script = [{ calls: [lookUp('a'), lookUp('b'), lookUp('c')] }, answer]
    const edited = (id: string) => ({ decision: 'approve' as const, input: { id } })
    const decisions = ['approve' as const, 'reject' as const]
    const approvals = { look_up: [...decisions, edited('edited')] }
    const { recorded, found, replay } = await recordBoth(version, script, approvals)
    expect(callsOf(found).map(({ approved, result }) => [approved, result?.ok])).toEqual([
      [{ id: 'a' }, true],
      [undefined, undefined],
      [{ id: 'edited' }, true],
      [undefined, undefined],
    ])
    expect(found).toEqual(recorded)
    expect((await replay()).failures).toEqual([])
    // What the case decides is not what was recorded: no tool has got these calls.
    const message = 'No recording for this call of the tool look_up. Run with --record.'
    for (const changed of [
      [...decisions, edited('other')],
      ['approve', edited('b'), edited('edited')],
    ])
      expect((await replay({ approvals: { look_up: changed } } as Partial<TestCase>)).failures).toEqual([
        { pointer: '', message },
      ])
  })

  it('has no results for other tools, also if the model sees no difference', async () => {
    const script = [{ calls: [lookUp('a')] }, answer]
    const version = await aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')] })
    const { recorded } = await recordBoth(version, script)
    const tool = httpTool(server, 'look_up', '/things/{id}')
    const http = { ...tool.http, headers: { 'X-Shop': 'other' } }
    const changed = await aModelAgent({ tools: [{ ...tool, http }] })
    const testCase = { name: '', input: { question: 'Why?' }, expect: {} }
    const params = { stores: engine, model: null, environment, version: changed, testCase }
    expect((await replayCase(params, recorded)).failures).toEqual([
      { pointer: '', message: 'No recording for this call of the tool look_up. Run with --record.' },
    ])
  })
})

describe('the recording of a run on fallback models', () => {
  const unavailable = () => ({ status: 503, headers: { 'retry-after': '0' } })
  const params = { stores: engine, model: null, environment: {} }

  it('is replayed on the model that responded', async () => {
    const [first, second] = [scriptModel(unavailable), scriptModel([answer])]
    const version = await aModelAgent({ model: first.model, fallbacks: [second.model] })
    const { found, testCase } = await recordOn(version)
    expect(found.run?.steps.map(({ model }) => model)).toEqual([second.model])
    expect((await replayCase({ ...params, version, testCase }, found)).failures).toEqual([])
  })

  it('is replayed on each that responded', async () => {
    const tools = [httpTool(server, 'look_up', '/things/{id}')]
    const thenNothing = (_: unknown, index: number) =>
      index === 0 ? { calls: [lookUp('a')] } : unavailable()
    const [first, second] = [scriptModel(thenNothing), scriptModel([answer])]
    const version = await aModelAgent({ tools, model: first.model, fallbacks: [second.model] })
    const { found, testCase } = await recordOn(version)
    expect(found.run?.steps.map(({ model }) => model)).toEqual([first.model, second.model])
    expect((await replayCase({ ...params, version, testCase }, found)).failures).toEqual([])
  })
})

describe('maskCredentials', () => {
  it.each([
    ['Bearer abcdefghijklmnopqrstu', 'Bearer [secret token]'],
    ['AKIAABCDEFGHIJKLMNOP', '[secret key]'],
    [`aes_${'a'.repeat(43)} and aescb_${'b'.repeat(43)}`, '[secret token] and [secret callback]'],
    ['postgres://ada:hunter2@db.example.com/x', 'postgres://ada:[secret password]@db.example.com/x'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nrest', '[secret key]\nrest'],
    ['Ask about order sk-7, or mail ada@example.com.', 'Ask about order sk-7, or mail ada@example.com.'],
  ])('%j', async (text, masked) => {
    const { mask } = await maskCredentials({}, [])
    expect(mask({ list: [text], [text]: 1 })).toEqual({ list: [masked], [masked]: 1 })
  })

  it('masks API keys and the secrets of tools in every form', async () => {
    const { mask } = await maskCredentials({ OPENAI_API_KEY: 'key-of-openai', CRM_KEY: 'tiger-lily' }, [
      'CRM_KEY',
    ])
    const encoded = Buffer.from('tiger-lily').toString('hex')
    expect(mask(['key-of-openai', 'the tiger-lily', encoded])).toEqual([
      '[secret key]',
      'the [secret CRM_KEY]',
      '[secret CRM_KEY]',
    ])
  })

  it('names the secrets that it does not mask, because they are missing or cannot be read', async () => {
    const names = ['CRM_KEY', 'OTHER', 'ABSENT', 'OTHER']
    expect((await maskCredentials({ CRM_KEY: 'tiger-lily' }, names)).unread).toEqual(['ABSENT', 'OTHER'])
    expect((await maskCredentials({ CRM_KEY: ' ' }, ['CRM_KEY'])).unread).toEqual(['CRM_KEY'])
  })
})
