import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { executionKey } from '../../lib/dynamodb/table/keys.ts'
import { PDF, pdfOf } from '../support/data/files.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import {
  type ApiClient,
  createLocalClient,
  getExecutionId,
  waitForExecution,
} from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
const folder = services.newFolder()
let scripted: ScriptedModel
let service: Service
let call: ApiClient

const FIELDS = 'input: { document: { type: file } }\noutput: { bytes: { type: integer } }'
const READER = `---\ntitle: Reader\nslug: reader\n${FIELDS}\nmodel: openai-compatible/reader\n---\nRead it.\n`
const MEASURE = `---\ntitle: Measure\nslug: measure\n${FIELDS}\ncode: true\n---\n`
const CODE =
  'export default ({ document }) => ({ bytes: Buffer.from(document.data, "base64").length + (document.mediaType === "application/pdf" ? 0 : 1) })'

beforeAll(async () => {
  scripted = await startScriptedModel()
  service = await services.start(folder, {
    ...(scripted.environmentFor() as Record<string, string>),
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    POWERTOOLS_LOG_LEVEL: 'DEBUG',
  })
  call = createLocalClient(service.url, folder)
  for (const body of [{ document: READER }, { document: MEASURE, code: CODE }])
    expect([200, 201]).toContain((await call('POST', '/v1/agents', { body })).status)
})
afterAll(() => scripted.stop())

const run = (slug: string, body: unknown, query = '') =>
  call('POST', `/v1/agents/${slug}/executions?${query}`, { body })

/** Of an attribute of an item. */
const sizeOf = (value: unknown): number =>
  value instanceof Uint8Array ? value.length : (JSON.stringify(value)?.length ?? 0)

describe('a file in a request', () => {
  it('of almost 6 MB reaches the model and the record, and no log', async () => {
    scripted.script('reader', [{ calls: [finalAnswer({ bytes: 4_400_000 })] }])
    const document = { ...PDF, data: pdfOf(4_400_000) }
    const { status, headers, json } = await run('reader', { document }, 'useCache=true')
    expect({ status, json }).toEqual({ status: 200, json: { bytes: 4_400_000 } })
    const [request] = scripted.requests('reader')
    expect(JSON.stringify(request?.body).includes(document.data)).toBe(true)
    const read = await call('GET', headers.get('location') ?? '')
    expect(read.json.input.document.data === document.data).toBe(true)
    const cached = await run(
      'reader',
      { document: `data:application/pdf;base64,${document.data}` },
      'useCache=true',
    )
    expect(cached.headers.get('Cache-Status')).toContain('hit')
    expect(service.output()).not.toContain(document.data.slice(0, 60))
  })

  it('is stored once, however many steps the run has', async () => {
    scripted.script('reader', [{ text: 'Hm.' }, { calls: [finalAnswer({ bytes: 1 })] }])
    const content = Buffer.concat([Buffer.from('%PDF-1.7'), randomBytes(1_000_000)])
    const response = await run('reader', { document: { ...PDF, data: content.toString('base64') } })
    expect(scripted.requests('reader')).toHaveLength(2)
    const { items } = await sharedTable().query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': executionKey(getExecutionId(response)).pk },
    })
    const bytes = items.flatMap((item) => Object.values(item)).map(sizeOf)
    const total = bytes.reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(content.length)
    expect(total).toBeLessThan(1.1 * content.length)
  })

  it.each<[string, unknown, number, string]>([
    ['no base64', { ...PDF, data: 'no base64!' }, 422, '/document/data must be valid base64.'],
    ['no bytes', { ...PDF, data: '' }, 422, '/document/data must not be empty.'],
    [
      'another type',
      { ...PDF, mediaType: 'image/png' },
      422,
      '/document/data must be a file of type image/png, but starts like application/pdf.',
    ],
    ['too large', { ...PDF, data: pdfOf(4_490_000 + 10_001) }, 413, ''],
    [
      'a text',
      'see attachment',
      422,
      '/document must be a file: { mediaType, data } with data in base64, or a data URL.',
    ],
  ])('is rejected before anything is recorded if it is %s', async (_, document, status, message) => {
    const before = await call('GET', '/v1/agents/reader/executions?fields=summary&limit=100')
    const response = await run('reader', { document })
    expect(response.status).toBe(status)
    if (message) expect(response.json).toMatchObject({ code: 'InputSchemaMismatch', errors: [{ message }] })
    const after = await call('GET', '/v1/agents/reader/executions?fields=summary&limit=100')
    expect(after.json).toHaveLength(before.json.length)
  })

  it('reaches a code agent, synchronously and asynchronously', async () => {
    const document = { ...PDF, data: `${PDF.data.slice(0, 20)}\r\n${PDF.data.slice(20)}\n` }
    expect((await run('measure', { document })).json).toEqual({ bytes: 40 })
    const { json } = await run('measure', { document }, 'execMode=async')
    expect(await waitForExecution(call, json.id)).toMatchObject({
      output: { bytes: 40 },
      input: { document },
    })
  })

  it('is refused with a model that does not read it', async () => {
    const document = READER.replace('slug: reader', 'slug: chooser').replace(
      'model: openai-compatible/reader\n',
      'model: openai/gpt-5\n',
    )
    await call('POST', '/v1/agents', { body: { document } })
    const { status, json } = await run('chooser', { document: PDF }, 'model=openai/gpt-3.5-turbo')
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'InvalidModelOverride' })
    expect(json.detail).toBe('The model openai/gpt-3.5-turbo does not accept files of type application/pdf.')
  })

  it('is refused when an agent is published whose model does not read it', async () => {
    const document = READER.replace('openai-compatible/reader', 'anthropic/claude-3-haiku-20240307')
    const { status, json } = await call('POST', '/v1/agents', { body: { document } })
    expect({ status, code: json.code }).toEqual({ status: 422, code: 'InvalidAgent' })
    expect(json.errors[0].message).toContain('does not accept files of type application/pdf')
  })
})
