import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { createLocalClient, readDevToken } from '../../support/service/client.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const services = temporaryServices()
const OUTPUT = { priority: 'high', team: 'accounts', summary: 'Cannot log in.', knownIncident: false }
let scripted: ScriptedModel
beforeAll(async () => {
  scripted = await startScriptedModel()
})
afterAll(() => scripted.stop())

it.each(['sync', 'async'] as const)(
  'a reader of a %s run gets the right end after the service was killed while the model wrote',
  async (mode) => {
    const folder = services.newFolder()
    const environment = scripted.environmentFor('openai-compatible') as Record<string, string>
    // The response of the first worker does not end before it is killed.
    scripted.script(mode, [
      { calls: [finalAnswer(OUTPUT)], pause: { ms: 120_000, chunk: -3 } },
      { calls: [finalAnswer(OUTPUT)] },
    ])
    const killed = await services.start(folder, environment)
    const text = readFileSync(new URL('../../../agents/triage-ticket/agent.md', import.meta.url), 'utf8')
    const slug = `triage-${mode}`
    const document = text.replace('---\n', `---\nslug: ${slug}\nmodel: openai-compatible/${mode}\n`)
    const published = await createLocalClient(killed.url, folder)('POST', '/v1/agents', {
      body: { document },
    })
    expect(published.status).toBe(201)

    const client = new Client({ baseUrl: killed.url, token: readDevToken(folder), maxRetries: 20 })
    const input = { subject: 'Help', body: 'I cannot log in.' }
    const events =
      mode === 'sync'
        ? client.stream(slug, input, { deltas: true })
        : client.events((await client.start(slug, input)).id, { deltas: true })
    const texts = new Map<number, string>()
    const names = new Set<string>()
    let isKilled = false
    let end: unknown
    for await (const { event, data } of events) {
      names.add(event)
      if (event === 'reset') texts.delete(data.try)
      if (event === 'delta')
        texts.set(data.try, (texts.get(data.try) ?? '') + (data.toolCall?.arguments ?? ''))
      if (event === 'done') end = data
      if (event === 'delta' && !isKilled) {
        isKilled = true
        await killed.kill()
        await services.start(folder, { ...environment, PORT: new URL(killed.url).port })
      }
    }
    expect(end).toMatchObject({ status: 'SUCCESS', error: null, output: OUTPUT })
    expect(scripted.requests(mode)).toHaveLength(2)
    expect([...names]).toEqual(expect.arrayContaining(['delta', 'reset', 'step', 'done']))
    expect([...texts.keys()]).not.toContain(1)
  },
)
