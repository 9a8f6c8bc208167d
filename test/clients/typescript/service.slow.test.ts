import { beforeAll, describe, expect, inject, it } from 'vitest'
import { Client, type WaitOptions } from '../../../clients/typescript/src/index.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { collect } from './collect.ts'
import { SOON } from './scripted-service.ts'

type Agents = {
  echo: { input: { text: string; count?: number }; output: { text: string } }
  wait: { input: { seconds: number }; output: { waitedSeconds: number } }
  trimming: { input: { text: string }; output: { text: string } }
  failing: { input: { failure: string }; output: { result: string } }
  'three-steps': { input: { log: string }; output: { values: number[] } }
  waits: { input: { seconds: number }; output: { data: string } }
}

let org: TestOrganization
let client: Client<Agents>
beforeAll(async () => {
  org = await newOrganization()
  for (const slug of ['echo', 'wait', 'failing', 'trimming', 'three-steps', 'waits']) await org.publish(slug)
  client = new Client<Agents>({ baseUrl: `${inject('service')}/v1/`, token: org.token })
})

describe('Client', () => {
  it('runs, starts and waits', async () => {
    expect(await client.run('echo', { text: 'x' })).toEqual({ text: 'x' })
    const started = await client.start('wait', { seconds: 0 })
    expect(started).toMatchObject({ status: 'IN_PROGRESS', output: null })
    const ended = await client.wait(started)
    expect(ended.output.waitedSeconds).toBeGreaterThanOrEqual(0)
    expect(ended).toEqual(await client.get(started.id))
  })

  it('waits for the end of a run that waits', async () => {
    const kinds: (string | undefined)[] = []
    const onWaiting: WaitOptions['onWaiting'] = (waits) => void kinds.push(...waits.map(({ kind }) => kind))
    expect(await client.run('waits', { seconds: 0.1 }, { onWaiting })).toEqual({ data: 'null' })
    expect(kinds.filter((kind) => kind !== 'sleep')).toEqual([])
  })

  it('passes the parameters of a run', async () => {
    const version = (await org.publish('echo', { draft: true })).id
    const parameters = { tenantId: 'täna nt', version, useCache: true, maxAgentSteps: 7 }
    const { id } = await client.start('echo', { text: 'x' }, parameters)
    expect(await client.wait(id)).toMatchObject({ tenantId: 'täna nt', versionId: version })
    const strict = { enforceInputSchema: true }
    await expect(client.run('echo', { txt: 'x' } as never, strict)).rejects.toMatchObject({
      code: 'InputSchemaMismatch',
      errors: [{ path: '/text' }, { path: '/txt' }],
    })
  })

  it('has one execution per key', async () => {
    const options = { idempotencyKey: 'once' }
    const [first, second] = await Promise.all([
      client.start('echo', { text: 'x' }, options),
      client.start('echo', { text: 'x' }, options),
    ])
    expect(first.id).toBe(second.id)
    // A synchronous run that finds the first one in progress waits for it.
    const both = await Promise.all([1, 2].map(() => client.run('wait', { seconds: 1 }, options)))
    expect(both[0]).toEqual(both[1])
  })

  it('rejects with why an execution failed', async () => {
    const expected = { code: 'ExecutionFailed', error: { code: 'AgentFailed' } }
    await expect(client.run('failing', { failure: 'throw' })).rejects.toMatchObject(expected)
    const { id } = await client.start('failing', { failure: 'throw' })
    await expect(client.wait(id)).rejects.toMatchObject({ ...expected, executionId: id })
  })

  it('rejects with what is wrong with the input that an agent failed on', async () => {
    const expected = {
      code: 'InputSchemaMismatch',
      status: 422,
      errors: [{ path: '/text' }],
      error: { code: 'AgentFailed' },
    }
    const run = client.run('trimming', { text: {} as never })
    await expect(run).rejects.toMatchObject(expected)
    const { id } = await client.start('trimming', { text: {} as never })
    const wait = client.wait(id)
    await expect(wait).rejects.toMatchObject({ ...expected, executionId: id })
    const [first, second] = await Promise.all([run, wait].map((call) => call.catch((error: Error) => error)))
    expect((second as Error).message).toBe((first as Error).message)
  })

  it('streams a run', async () => {
    const all = await collect(client.stream('three-steps', { log: '/dev/null' }))
    expect(all.map(({ event }) => event).filter((event) => event === 'step')).toHaveLength(3)
    const last = all.at(-1)
    expect(last?.event === 'done' && last.data.output?.values).toEqual([1, 2, 3])
    const again = await collect(client.events(last?.event === 'done' ? last.data : '', { after: 2 }))
    expect(again.map(({ event }) => event)).toEqual(['status', 'step', 'done'])
  })

  it('cancels when its signal aborts', async () => {
    const controller = new AbortController()
    const options = { signal: controller.signal, cancelOnAbort: true, idempotencyKey: 'cancelled' }
    const run = client.run('wait', { seconds: 60 }, options)
    await expect
      .poll(async () => (await collect(client.executions({ status: 'IN_PROGRESS' }))).length, SOON)
      .toBe(1)
    controller.abort('enough')
    await expect(run).rejects.toBe('enough')
    const ended = await client.start('wait', { seconds: 60 }, { idempotencyKey: 'cancelled' })
    expect(ended).toMatchObject({ status: 'ERROR', error: { code: 'Cancelled' } })
  })

  it('reads lists to their end, and filters them', async () => {
    const by = await newOrganization()
    for (const slug of ['echo', 'wait']) await by.publish(slug)
    const other = new Client<Agents>({ baseUrl: inject('service'), token: by.token })
    const ids: string[] = []
    for (let number = 0; number < 5; number++) {
      ids.unshift((await other.start('echo', { text: `${number}` }, { tenantId: `t ${number % 2}` })).id)
    }
    await Promise.all(ids.map((id) => other.wait(id)))
    await other.run('wait', { seconds: 0 })
    const idsOf = async (list: AsyncIterable<{ id: string }>) => (await collect(list)).map(({ id }) => id)
    expect(await idsOf(other.executions({ agent: 'echo', limit: 2 }))).toEqual(ids)
    expect(await idsOf(other.executions({ tenantId: 't 1', status: 'SUCCESS', limit: 1 }))).toEqual([
      ids[1],
      ids[3],
    ])
    const summaries = await collect(other.executions({ fields: 'summary', limit: 4 }))
    expect(summaries).toHaveLength(6)
    expect(summaries[0]).not.toHaveProperty('output')
    expect((await collect(other.agents({ limit: 1 }))).map(({ slug }) => slug).sort()).toEqual([
      'echo',
      'wait',
    ])
    const { currentVersionId } = await other.agent('echo')
    expect(await idsOf(other.versions('echo'))).toEqual([currentVersionId])
  })

  it('lists steps, gives feedback and deletes', async () => {
    const { id } = await client.wait(await client.start('three-steps', { log: '/dev/null' }))
    const steps = await collect(client.steps(id, { limit: 2 }))
    expect(steps.map(({ number, name }) => [number, name])).toEqual([
      [1, 'first'],
      [2, 'second'],
      [3, 'third'],
    ])
    const { feedback } = await client.feedback(id, { rating: -1, note: 'no' })
    expect(feedback).toMatchObject({ rating: -1, note: 'no', correctedOutput: null })
    await client.delete(id)
    await expect(client.get(id)).rejects.toMatchObject({ code: 'ExecutionNotFound', status: 404 })
  })

  it('publishes, promotes, archives and restores', async () => {
    const by = await newOrganization()
    const other = new Client({ baseUrl: inject('service'), token: by.token })
    const document = (title: string) => `---
title: ${title}
slug: greet
description: Greets by name.
input: { name: { type: string } }
output: { said: { type: string } }
model: openai/gpt-5-mini
---
Greet.
`
    const first = await other.publish({ document: document('One'), message: 'first' })
    const draft = await other.publish({ document: document('Two'), draft: true })
    expect(await other.publish({ document: document('Two'), draft: true })).toEqual(draft)
    expect(await other.version('greet', draft.id)).toMatchObject({ status: 'DRAFT', instructions: 'Greet.' })
    expect(await other.promote('greet', draft.id)).toMatchObject({ currentVersionId: draft.id })
    expect(await other.promote('greet', first.id)).toMatchObject({ currentVersionId: first.id })
    expect(await other.retire('greet', draft.id)).toMatchObject({ retiredAt: expect.any(String) })
    await expect(other.promote('greet', draft.id)).rejects.toMatchObject({
      code: 'VersionRetired',
      status: 409,
    })
    await expect(other.run('greet', { name: 'x' }, { version: draft.id })).rejects.toMatchObject({
      code: 'VersionRetired',
      status: 410,
    })
    expect(await other.unretire('greet', draft.id)).toMatchObject({ retiredAt: null })
    const unwanted = await other.publish({ document: document('Three'), draft: true })
    await other.deleteVersion('greet', unwanted.id)
    await expect(other.version('greet', unwanted.id)).rejects.toMatchObject({ code: 'VersionNotFound' })
    await expect(other.deleteVersion('greet', first.id)).rejects.toMatchObject({ code: 'VersionPublished' })
    await other.archive('greet')
    await expect(other.run('greet', { name: 'x' })).rejects.toMatchObject({
      code: 'AgentArchived',
      status: 410,
    })
    expect(await collect(other.agents())).toEqual([])
    expect(await collect(other.agents({ archived: true }))).toHaveLength(1)
    expect(await other.restore('greet')).toMatchObject({ archivedAt: null })
    const invalid = other.publish({ document: 'no front matter', slug: 'x' })
    await expect(invalid).rejects.toMatchObject({ code: 'InvalidAgent', errors: [{ path: '/document' }] })
  })

  it('describes its token', async () => {
    expect(await client.me()).toMatchObject({ organizationId: org.id, tenantId: null })
  })
})

/** The compiler does not know it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

describe('numbers that a double cannot hold', () => {
  it('are those of JavaScript by default, and exact with the functions of the caller', async () => {
    const digits = '12345678901234567890'
    const input = { text: 'x', count: Number(digits) }
    const rounded = await client.wait(await client.start('echo', input))
    expect(rounded.input.count).toBe(12345678901234567000)
    const exact = new Client<Agents>({
      baseUrl: inject('service'),
      token: org.token,
      // As in docs/clients.md.
      parse: (text) =>
        JSON.parse(text, (_, value, context?: { source?: string }) =>
          Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(context?.source ?? value) : value,
        ),
      stringify: (value) =>
        JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? rawJSON(String(part)) : part)),
    })
    const started = await exact.start('echo', { text: 'x', count: BigInt(digits) as never })
    expect((await exact.wait(started)).input.count).toBe(BigInt(digits))
    expect((await org.call('GET', `/v1/agent_executions/${started.id}`)).text).toContain(`"count":${digits}`)
  })
})

describe('options', () => {
  it.each(['', 'agents.example.com', 'ftp://x', 'https://x/?a=1'])('reject the base URL "%s"', (baseUrl) => {
    expect(() => new Client({ baseUrl, token: 'x' })).toThrow(/^baseUrl must be a URL/)
  })

  it.each([0, -1, Number.NaN])('reject a deadline of %s ms', async (timeoutMs) => {
    const other = new Client({ baseUrl: 'http://127.0.0.1:9', token: 'x', timeoutMs })
    await expect(other.me()).rejects.toThrow(`timeoutMs must be a number above 0, not ${timeoutMs}.`)
  })

  it('reject a negative number of retries', () => {
    expect(() => new Client({ baseUrl: 'https://x', token: 'x', maxRetries: -1 })).toThrow(
      'maxRetries must be a number from 0, not -1.',
    )
  })

  it('reject an empty token', () => {
    expect(() => new Client({ baseUrl: 'https://x', token: '' })).toThrow('token must be an API token.')
  })
})
