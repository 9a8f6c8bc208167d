import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SLOW_ANSWER } from '../../browser/demo/agents.ts'
import { newDemo } from '../../browser/demo/new-demo.ts'
import { useBrowser } from '../../browser/support/browser.ts'
import { button } from '../../browser/support/pages.ts'
import { startServer } from '../../support/service/start-server.ts'

const EXAMPLE = readFileSync(new URL('../../../examples/browser-live.html', import.meta.url))
const { answer } = SLOW_ANSWER.output
/** How much later than the model's first token a page may show it. */
const MAX_RATIO = 1.3

const demo = await newDemo()
const { open, openPage } = useBrowser()

/** The backend that the example asks for: it serves the page, and forwards /v1 with the token. */
const backend = await startServer(async (request, response) => {
  if (!request.url?.startsWith('/v1'))
    return void response.setHeader('content-type', 'text/html').end(EXAMPLE)
  const { method = 'GET' } = request
  const headers = { ...(request.headers as Record<string, string>), authorization: `Bearer ${demo.token}` }
  for (const name of ['host', 'connection', 'content-length', 'transfer-encoding'])
    Reflect.deleteProperty(headers, name)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = chunks.length > 0 ? Buffer.concat(chunks) : null
  const answered = await fetch(`${demo.url}${request.url}`, { method, headers, body })
  response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' })
  if (answered.body)
    Readable.fromWeb(answered.body)
      .on('error', () => response.destroy())
      .pipe(response)
  else response.end()
})
beforeAll(async () => {
  // The form of the example has one field.
  const change = (document: string) => document.replace('minLength: 1', 'required: false')
  await demo.publish('order-support', { change })
})
afterAll(backend.stop)

/** Asks about an order. @returns the milliseconds until the page shows a text */
async function ask(page: Page, orderId: string, text: string | RegExp): Promise<number> {
  const input = { orderId, question: 'Where is it?', channel: 'email' }
  await button(page, 'JSON').click()
  await page.getByRole('textbox', { name: 'Input as JSON' }).fill(JSON.stringify(input))
  const startedAt = performance.now()
  await button(page, 'Run').click()
  await page
    .getByRole('region', { name: /^Result/ })
    .getByText(text)
    .first()
    .waitFor()
  return performance.now() - startedAt
}

describe('an answer that is being written', () => {
  it('is shown by the example at once, and again after a reload, until it is complete', async () => {
    const address = `${backend.url}/?agent=order-support`
    const page = await open(address)
    const written = page.locator('#answer', { hasText: answer })
    await page.locator('input').fill('Where is L-1?')
    await button(page, 'Ask').click()
    await written.waitFor()
    await expect(page.locator('#status').textContent()).resolves.toBe('IN_PROGRESS')
    await page.reload()
    await written.waitFor()
    await expect(page.locator('#status').textContent()).resolves.toBe('IN_PROGRESS')
    await expect.poll(() => page.locator('#status').textContent()).toBe('SUCCESS')
    expect(JSON.parse((await page.locator('#answer').textContent()) ?? '')).toEqual(SLOW_ANSWER.output)
  })

  it(`is shown by Try it within ${MAX_RATIO} times the time of its first token, and by the run page`, async () => {
    const page = await openPage(demo, '#/agents/order-support/try')
    // The model refuses this order at once: what the machine takes for a run, however busy it is.
    const overheadMs = await ask(page, 'B-9', /overloaded with nonsense/)
    const ms = await ask(page, 'L-1', answer)
    expect((ms - overheadMs) / SLOW_ANSWER.firstTokenMs).toBeLessThan(MAX_RATIO)
    const [run] = (await demo.call('GET', '/v1/agent_executions?limit=1')).json
    expect(run.status).toBe('IN_PROGRESS')
    const watched = await openPage(demo, `#/runs/${run.id}`)
    await watched.locator('main').getByText(answer).waitFor()
    await watched.locator('main').getByText('Success').first().waitFor()
    expect((await demo.call('GET', `/v1/agent_executions/${run.id}`)).json.output).toEqual(SLOW_ANSWER.output)
  })
})
