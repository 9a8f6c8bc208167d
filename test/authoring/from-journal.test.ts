import { describe, expect, it } from 'vitest'
import { runCase } from '../../authoring/cases/run-case.ts'
import { replayCase } from '../../authoring/cases/run-cases.ts'
import { recordingOf } from '../../authoring/recording/from-journal.ts'
import { maskCredentials } from '../../authoring/recording/mask-credentials.ts'
import { recordSources } from '../../authoring/recording/record.ts'
import { newRecording, type Recording } from '../../authoring/recording/recording.ts'
import type { Version } from '../../lib/core/agent.ts'
import { aModelAgent, httpTool } from '../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../support/engine/scripted-engine.ts'
import type { Script } from '../support/scripted-model/turn.ts'
import { serveMcp } from '../tools/kinds/mcp-server.ts'

const { engine, server, scriptModel } = await startScriptedEngine()
const { environment } = engine
const lookUp = (id: string) => ({ name: 'look_up', input: { id } })

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
  return recordingOf({ stores: engine, environment, mask }, execution, '')
}

/** Runs a case as `--record` does. Returns its recording, and the one that the journal of the execution gives. */
async function recordBoth(version: Version, script: Script, approvals = {}) {
  const { model } = scriptModel(script)
  const recorded = newRecording({ model })
  const ids: string[] = []
  const { failures } = await runCase({
    stores: engine,
    version,
    testCase: { name: '', input: { question: 'Why?' }, approvals, expect: {} },
    model,
    environment,
    sources: recordSources(recorded, environment),
    onStep: ({ id }) => void ids.push(id),
  })
  expect(failures).toEqual([])
  return { recorded, found: await recordingOfId(version, ids.at(-1) ?? '') }
}

/** Calls are recorded in the order in which they end. */
const inOrder = (recording: Recording): Recording => ({
  ...recording,
  calls: recording.calls.toSorted((a, b) => a.call.at.localeCompare(b.call.at)),
})

describe('recordingOf', () => {
  it('has what --record would have stored', async () => {
    const mcp = await serveMcp()
    const tools = [
      httpTool(server, 'look_up', '/things/{id}'),
      { name: 'crm', mcp: { url: mcp.url, allowedHosts: [mcp.host] } },
    ]
    const script = [
      { text: 'Let me look.', calls: [lookUp('a'), lookUp('a'), { name: 'nothing', input: {} }] },
      { calls: [{ name: 'crm_find_customer', input: { name: 'Ada' } }, lookUp('b')] },
      { text: 'Only a text.' },
      answer,
    ]
    const { recorded, found } = await recordBoth(await aModelAgent({ tools }), script)
    expect(found.responses).toHaveLength(4)
    expect(found.declarations).toHaveLength(1)
    expect(inOrder(found)).toEqual(inOrder(recorded))
  })

  it('has calls as they were approved, and none that was rejected', async () => {
    const tools = [{ ...httpTool(server, 'look_up', '/things/{id}'), approval: true }]
    const version = await aModelAgent({ tools })
    const script = [{ calls: [lookUp('a'), lookUp('b'), lookUp('c')] }, answer]
    const edited = { decision: 'approve' as const, input: { id: 'edited' } }
    const { recorded, found } = await recordBoth(version, script, { look_up: ['approve', 'reject', edited] })
    expect(found.calls.map(({ call }) => call.input)).toEqual([{ id: 'a' }, { id: 'edited' }])
    expect(inOrder(found)).toEqual(inOrder(recorded))
  })
})

describe('the recording of a run on a fallback model', () => {
  const unavailable = () => ({ status: 503, headers: { 'retry-after': '0' } })
  const params = { stores: engine, model: null, environment: {} }

  it('is replayed on the model that responded', async () => {
    const [first, second] = [scriptModel(unavailable), scriptModel([answer])]
    const version = await aModelAgent({ model: first.model, fallbacks: [second.model] })
    const { found, testCase } = await recordOn(version)
    expect(found.model).toBe(second.model)
    expect((await replayCase({ ...params, version, testCase }, found)).failures).toEqual([])
  })

  it('is left out if more than one model responded', async () => {
    const tools = [httpTool(server, 'look_up', '/things/{id}')]
    const thenNothing = (_: unknown, index: number) =>
      index === 0 ? { calls: [lookUp('a')] } : unavailable()
    const [first, second] = [scriptModel(thenNothing), scriptModel([answer])]
    const version = await aModelAgent({ tools, model: first.model, fallbacks: [second.model] })
    await expect(recordOn(version)).rejects.toThrow('more than one model responded to it')
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
