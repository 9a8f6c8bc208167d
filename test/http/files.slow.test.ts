import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { PDF, pdfOf } from '../support/data/files.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createLocalClient } from '../support/service/client.ts'
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
})
