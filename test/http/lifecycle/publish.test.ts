import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { toGatewayEvent } from '../../infra/gateway-event.ts'
import { localHandlers } from '../../support/service/local-handlers.ts'
import { codeOf, documentOf, type Lifecycle, newLifecycle } from './lifecycle-client.ts'

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const handlers = localHandlers()

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
      status: 'PUBLISHED',
      message: 'Begins.',
      createdBy: me.tokenId,
      toolNames: [],
      ...{ contentHash: hash, documentHash: hash, codeHash: hash },
    })
    expect((await org.run('first', { name: 'Ada' })).json).toEqual({ said: 'Hello', name: 'Ada' })
    expect(await org.versions('first')).toEqual([json])
    const details = await org.call('GET', `/v1/agents/first/versions/${json.id}`)
    expect(details.json).toMatchObject({ ...json, code: true, instructions: '', tools: [], env: [] })
    expect(details.json).not.toHaveProperty('sourceCode')
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

  it('creates no version for the content of the current one', async () => {
    const first = await org.publishSaying('same', 'A')
    const { status, json } = await publish({
      document: documentOf('same'),
      code: codeOf('A'),
      message: 'Again',
    })
    expect([status, json]).toEqual([200, first])
    const changed = await publish({ document: documentOf('same'), code: codeOf('B') })
    expect(changed.status).toBe(201)
    expect(changed.json.documentHash).toBe(first.documentHash)
    expect(changed.json.codeHash).not.toBe(first.codeHash)
    expect(await org.versions('same')).toHaveLength(2)
  })

  it('creates one version for 10 concurrent requests with the same content', async () => {
    const body = { document: documentOf('at-once'), code: codeOf('A') }
    const responses = await Promise.all(Array.from({ length: 10 }, () => publish(body)))
    expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array(9).fill(200), 201])
    expect(new Set(responses.map(({ json }) => json.id)).size).toBe(1)
    expect(await org.versions('at-once')).toHaveLength(1)
  })

  it('creates all versions of 5 concurrent requests with different content', async () => {
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, n) => publish({ document: documentOf('apart'), code: codeOf(`${n}`) })),
    )
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]))
    expect(await org.versions('apart')).toHaveLength(5)
    const { currentVersionId } = await org.agent('apart')
    expect(responses.map(({ json }) => json.id)).toContain(currentVersionId)
  })

  it('publishes a draft, which is unchanged by the same content and promoted by publishing it', async () => {
    const draft = await org.publishText('sketch', 'A', { draft: true })
    expect(draft.status).toBe('DRAFT')
    expect(await org.publishText('sketch', 'A', { draft: true })).toEqual(draft)
    const published = { ...draft, status: 'PUBLISHED', message: 'Done.' }
    expect(await org.publishText('sketch', 'A', { message: 'Done.' })).toEqual(published)
    expect(await org.versions('sketch')).toEqual([published])
    expect(await org.agent('sketch')).toMatchObject({ currentVersionId: draft.id, draftVersionId: null })
  })

  it('takes the slug from the body for a document without one', async () => {
    const document = documentOf('unused').replace('slug: unused\n', '')
    const missing = await publish({ document, code: codeOf('A') })
    expect(missing.json.errors).toEqual([
      {
        path: '/document',
        line: 2,
        field: 'slug',
        message: 'agent.md:2: slug: is required (lowercase words joined by hyphens).',
      },
    ])
    expect((await publish({ document, code: codeOf('A'), slug: 'given' })).status).toBe(201)
    expect((await org.agent('given')).slug).toBe('given')
  })

  const model = documentOf('invalid').replace('code: true\n', '')
  it.each([
    ['no document', {}, '/document', 'is required and must be a string'],
    ['another type', { document: 1 }, '/document', 'must be a string'],
    [
      'an unknown member',
      { document: model, drafts: true },
      '/drafts',
      'Allowed fields: document, slug, code',
    ],
    ['a draft that is text', { document: model, draft: 'yes' }, '/draft', 'must be true or false'],
    [
      'a control character',
      { document: model, message: 'a\u0000b' },
      '/message',
      'without control characters',
    ],
    ['half of a surrogate pair', { document: model, message: 'a\ud800b' }, '/message', 'must be a string'],
    [
      'half of a surrogate pair in YAML',
      { document: `${model.replace('type: string', 'type: string, description: "\\ud800"')}Hi` },
      '/document',
      'half of a surrogate pair',
    ],
    [
      'a long message',
      { document: model, message: 'x'.repeat(1_001) },
      '/message',
      'at most 1000 characters',
    ],
    ['no front matter', { document: 'Hello' }, '/document', 'agent.md:1: front matter: must start the file'],
    ['invalid YAML', { document: '---\na: [\n---\n' }, '/document', 'invalid YAML'],
    [
      'an unknown type',
      { document: model.replace('type: string', 'type: text') },
      '/document',
      'agent.md:4: input.name.type: must be one of string',
    ],
    ['a model agent without instructions', { document: model }, '/document', 'instructions: are required'],
    ['a model agent with code', { document: `${model}Hi`, code: '' }, '/document', 'the request has code'],
    [
      'a code agent without code',
      { document: documentOf('invalid') },
      '/document',
      'the request has no code',
    ],
    [
      'a large document',
      { document: `${model}${'x'.repeat(150_001)}` },
      '/document',
      'larger than 150000 bytes',
    ],
    [
      'TypeScript',
      { document: documentOf('invalid'), code: 'let a: number' },
      '/code',
      'code:1: must be JavaScript',
    ],
    [
      'CommonJS',
      { document: documentOf('invalid'), code: 'module.exports = 1' },
      '/code',
      'must default-export',
    ],
    [
      'an import that is not bundled',
      { document: documentOf('invalid'), code: `\nimport a from 'lodash'\nexport default a` },
      '/code',
      'code:2: imports "lodash"',
    ],
    [
      'large code',
      { document: documentOf('invalid'), code: `export default () => 1//${'x'.repeat(3_000_000)}` },
      '/code',
      'the limit is 3000000',
    ],
    [
      'code that throws when it is loaded',
      {
        document: documentOf('invalid'),
        code: `const a = 1\nif (a) throw new Error('boom')\nexport default () => a`,
      },
      '/code',
      'code:2:14: cannot be loaded: boom.',
    ],
    [
      'code whose default export is no function',
      { document: documentOf('invalid'), code: 'export default 42' },
      '/code',
      'must default-export a function run(input, context)',
    ],
  ])('rejects %s and publishes nothing', async (_, body, path, message) => {
    const { status, json } = await publish(body)
    expect([status, json.code]).toEqual([422, 'InvalidAgent'])
    expect(json.errors).toContainEqual(
      expect.objectContaining({ path, message: expect.stringContaining(message) }),
    )
    expect(json.detail).toContain(message)
    expect((await org.call('GET', '/v1/agents/invalid')).status).toBe(404)
  })

  it('accepts imports of built-in modules, and a source map that does not count as code', async () => {
    const map = `//# sourceMappingURL=data:application/json;base64,${'A'.repeat(1_000)}\n`
    const code = `import { sep } from 'node:path'\n${codeOf('A').replace('"A"', 'sep')}${map}`
    expect((await publish({ document: documentOf('built-in'), code })).status).toBe(201)
    expect((await org.run('built-in', { name: 'x' })).json).toEqual({ said: '/', name: 'x' })
  })

  it('is limited to the agents of the token, and not for tokens that are bound to a tenant', async () => {
    const body = { document: documentOf('limited'), code: codeOf('A') }
    const send = async (limits: object) => (await org.withLimits(limits))('POST', '/v1/agents', { body })
    expect((await send({ agents: ['other'] })).json.code).toBe('Forbidden')
    expect((await send({ tenantId: 'acme', agents: ['limited'] })).json.code).toBe('Forbidden')
    expect((await org.call('GET', '/v1/agents/limited')).status).toBe(404)
    expect((await send({ agents: ['limited'] })).status).toBe(201)
  })
})

describe('HTTP_PUBLISHING=off', () => {
  it('rejects every publish', async () => {
    vi.stubEnv('HTTP_PUBLISHING', 'off')
    const body = { document: documentOf('off'), code: codeOf('A') }
    const limits = { tokenId: org.id }
    const event = toGatewayEvent('publish-agent', {
      organizationId: org.id,
      body,
      limits,
    }) as APIGatewayProxyEvent
    const result = (await handlers['publish-agent'](event, {})) as APIGatewayProxyResult
    expect([result.statusCode, JSON.parse(result.body).code]).toEqual([403, 'Forbidden'])
  })
})
