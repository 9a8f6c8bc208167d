import { describe, expect, it, vi } from 'vitest'
import { localCall } from '../../support/service/local-handlers.ts'
import { codeOf, documentOf, modelDocumentOf, newLifecycle } from './lifecycle-client.ts'

const org = await newLifecycle()

const callHere = localCall()
/** In this process, with its settings. */
const publishHere = (body: object) =>
  callHere('publish-agent', { organizationId: org.id, body, limits: { tokenId: org.id } })

const publish = (body: unknown) => org.post('/v1/agents', body)

describe.concurrent('POST /v1/agents', () => {
  it('creates an agent that runs, and a version with its hashes, tools, author and message', async () => {
    const body = { document: documentOf('first'), code: codeOf('Hello'), message: 'Begins.' }
    const { status, headers, json } = await publish(body)
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/v1/agents/${json.documentId}/versions/${json.id}`)
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    const me = (await org.call('GET', '/v1/me')).json
    expect(json).toMatchObject({
      ...{ status: 'PUBLISHED', message: 'Begins.', createdBy: me.tokenId, toolNames: [] },
      ...{ contentHash: hash, documentHash: hash, codeHash: hash },
    })
    expect((await org.run('first', { name: 'Ada' })).json).toEqual({ said: 'Hello', name: 'Ada' })
    expect(await org.versions('first')).toEqual([json])
    const details = await org.call('GET', `/v1/agents/first/versions/${json.id}`)
    expect(details.json).toMatchObject({ ...json, code: true, instructions: '', tools: [], env: [] })
    expect(details.json).not.toHaveProperty('sourceCode')
  })

  it('creates no version for content that the current version or the draft has', async () => {
    const first = await org.publishSaying('same', 'A')
    const again = { document: documentOf('same'), code: codeOf('A'), message: 'Again' }
    expect(await publish(again)).toMatchObject({ status: 200, json: first })
    const draft = await org.publishSaying('same', 'B', { draft: true })
    expect(await org.publishSaying('same', 'B', { draft: true })).toEqual(draft)
    const promoted = { promotedAt: expect.any(String), promotedBy: draft.createdBy, promotedByName: 'test' }
    const published = { ...draft, status: 'PUBLISHED', message: 'Done.', ...promoted }
    expect(await org.publishSaying('same', 'B', { message: 'Done.' })).toEqual(published)
    expect(await org.versions('same')).toEqual([published, first])
  })

  it('keeps the code, which a request for the version can ask for', async () => {
    const { id } = await org.publishSaying('readable', 'A')
    const read = (query: string) => org.call('GET', `/v1/agents/readable/versions/${id}${query}`)
    expect((await read('?sourceCode=true')).json.sourceCode).toBe(codeOf('A'))
    expect((await read('?sourceCode=false')).json).toEqual((await read('')).json)
    expect((await read('?sourceCode=yes')).status).toBe(400)
    const text = await org.publishText('readable-text', 'A')
    const other = await org.call('GET', `/v1/agents/readable-text/versions/${text.id}?sourceCode=true`)
    expect([other.status, other.json.sourceCode]).toEqual([200, undefined])
  })

  const document = documentOf('invalid')
  const model = modelDocumentOf('invalid')
  const LARGE = `export default () => 1//${'x'.repeat(3_000_000)}`
  const THROWS = `const a = 1\nif (a) throw new Error('boom')\nexport default () => a`
  const IMPORTS = `\nimport a from 'lodash'\nexport default a`
  it.each([
    ['no document', {}, '/document', 'is required and must be a string'],
    [
      'an unknown member',
      { document: model, drafts: true },
      '/drafts',
      'Allowed fields: document, slug, code',
    ],
    ['half of a surrogate pair', { document: model, message: 'a\ud800b' }, '/message', 'must be a string'],
    ['a model agent without instructions', { document: model }, '/document', 'instructions: are required'],
    ['a model agent with code', { document: `${model}Hi`, code: '' }, '/document', 'the request has code'],
    ['a code agent without code', { document }, '/document', 'the request has no code'],
    ['TypeScript', { document, code: 'let a: number' }, '/code', 'code:1: must be JavaScript'],
    ['CommonJS', { document, code: 'module.exports = 1' }, '/code', 'must default-export'],
    ['an import that is not bundled', { document, code: IMPORTS }, '/code', 'code:2: imports "lodash"'],
    ['large code', { document, code: LARGE }, '/code', 'the limit is 3000000'],
    ['code that throws', { document, code: THROWS }, '/code', 'code:2:14: cannot be loaded: boom.'],
  ])('rejects %s and publishes nothing', async (_, body, path, message) => {
    const { status, json } = await publish(body)
    expect([status, json.code]).toEqual([422, 'InvalidAgent'])
    const error = { path, message: expect.stringContaining(message) }
    expect(json.errors).toContainEqual(expect.objectContaining(error))
    expect(json.detail).toContain(message)
    expect((await org.call('GET', '/v1/agents/invalid')).status).toBe(404)
  })
})

it('HTTP_PUBLISHING=off rejects every publish', async () => {
  vi.stubEnv('HTTP_PUBLISHING', 'off')
  const { status, json } = await publishHere({ document: documentOf('off'), code: codeOf('A') })
  expect([status, json.code]).toEqual([403, 'Forbidden'])
})

describe('allowedHosts of a document that arrives over HTTP', () => {
  const documentWith = (host: string) => `---
title: Reaches out
slug: reaches-out
input: { text: { type: string } }
output: { text: { type: string } }
tools:
  - name: look_up
    description: Looks it up.
    input: { id: { type: string } }
    http: { method: GET, url: "http://${host}/things/{id}", allowedHosts: ["${host}"] }
---
Look it up.
`
  const publishWith = (host: string) => publishHere({ document: documentWith(host) })

  it('are those that operators name, and those of the current version', async () => {
    vi.stubEnv('HTTP_PUBLISHING', 'on')
    vi.stubEnv('WEBHOOK_HOSTS', '')
    for (const host of ['127.0.0.1:9', 'localhost:9', '169.254.169.254', 'rebinds.example']) {
      const { status, json } = await publishWith(host)
      expect([status, json.code]).toEqual([422, 'InvalidAgent'])
      expect(json.errors[0]).toMatchObject({
        path: '/document',
        field: 'tools.0.http.allowedHosts.0',
        message: expect.stringContaining(`must not name "${host}"`),
      })
    }
    vi.stubEnv('WEBHOOK_HOSTS', '127.0.0.1:9')
    expect((await publishWith('127.0.0.1:9')).status).toBe(201)
    vi.stubEnv('WEBHOOK_HOSTS', '')
    expect((await publishWith('127.0.0.1:9')).status).toBe(200)
    expect((await publishWith('127.0.0.1:10')).status).toBe(422)
    expect((await publishWith('8.8.8.8:9')).status).toBe(201)
    vi.stubEnv('LOOPBACK_ORGANIZATION', org.id)
    expect((await publishWith('localhost:9')).status).toBe(201)
    vi.stubEnv('LOOPBACK_ORGANIZATION', undefined)
  })
})

describe('a remote agent', () => {
  const document = `---
title: Remote
input: { name: { type: string, description: A name. } }
output: { said: { type: string, description: What was said. } }
remote: { url: "https://agents.example/remote", timeoutSeconds: 30 }
---
`
  it('needs the secret that signs requests to it, and is shown with its URL', async () => {
    const detail = expect.stringContaining('POST /v1/webhooks/default/rotate')
    const refused = await publish({ document, slug: 'remote' })
    expect(refused).toMatchObject({ status: 400, json: { code: 'BadRequest', detail } })
    expect((await org.call('POST', '/v1/webhooks/default/rotate')).status).toBe(200)
    const published = await publish({ document, slug: 'remote' })
    const remote = { url: 'https://agents.example/remote', timeoutSeconds: 30 }
    expect(published).toMatchObject({ status: 201, json: { remote, codeHash: null, model: null } })
    const details = await org.call('GET', `/v1/agents/remote/versions/${published.json.id}`)
    expect(details.json).toMatchObject({ remote, code: false })
    const other = await org.post('/v1/agents/remote/executions?model=openai/gpt-5', { name: 'Ada' })
    expect(other.json.detail).toContain('is a remote agent; it does not accept a model')
  })
})

it('GET /v1/agents/openapi.json describes the published agents that the token sees, or one of them', async () => {
  const org = await newLifecycle()
  await org.publishSaying('one', 'A')
  await org.publishSaying('two', 'B')
  await org.publishSaying('three', 'C', { draft: true })
  const all = await org.call('GET', '/v1/agents/openapi.json')
  expect(all.status).toBe(200)
  const paths = ['/v1/agents/one/executions', '/v1/agents/two/executions']
  expect(Object.keys(all.json.paths).toSorted()).toEqual(paths)
  expect(all.json.servers).toEqual([{ url: '/' }])
  const one = await org.call('GET', '/v1/agents/one/openapi.json')
  expect(Object.keys(one.json.paths)).toEqual(paths.slice(0, 1))
  expect((await org.call('GET', '/v1/agents/onee/openapi.json')).json).toMatchObject({
    code: 'AgentNotFound',
    detail: expect.stringContaining('one'),
  })
})
