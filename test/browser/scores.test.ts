import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button, link, region } from './support/pages.ts'

const { openPage } = useBrowser()
const demo = await newDemo()

const OBJECT = '{ type: object, description: Any. }'
const agentOf = (slug: string, fields: string) =>
  `---\nslug: ${slug}\ntitle: ${slug}\ncode: true\n${fields}\n---\nFor tests.\n`

/** Says how good the output is by its length. */
const JUDGE = {
  document: agentOf(
    'judge',
    `input: { output: ${OBJECT} }\noutput: { score: { type: number }, reason: { type: string } }`,
  ),
  code: `export default ({ output }) => ({ score: output.text === 'long' ? 0.9 : 0.2, reason: 'It is ' + output.text + '.' })`,
}

const JUDGED = {
  document: agentOf(
    'judged',
    'input: { text: { type: string } }\noutput: { text: { type: string } }\nscorers: [{ agent: judge, min: 0.5, sample: 100 }]',
  ),
  code: 'export default ({ text }) => ({ text })',
}

const scoresOf = async (id: string) => (await demo.call('GET', `/v1/agent_executions/${id}`)).json.scores

describe('scores', () => {
  let good: string
  let bad: string
  beforeAll(async () => {
    for (const body of [JUDGE, JUDGED])
      expect((await demo.call('POST', '/v1/agents', { body })).text).toContain('"id"')
    good = await demo.run('judged', { text: 'long' })
    bad = await demo.run('judged', { text: 'short' })
    for (const id of [good, bad])
      await vi.waitFor(async () => expect(await scoresOf(id)).toBeDefined(), { timeout: 20_000 })
  })

  it('are in the list of runs, and on the run with their reasons and the run of the scorer', async () => {
    const page = await openPage(demo, '#/runs?agent=judged')
    const row = page.locator('.run-row').filter({ hasText: bad.slice(-4) })
    await row.getByText('judge 0.20').waitFor()
    await page.goto(`${demo.url}/console#/runs/${bad}`)
    const scores = region(page, 'Scores').first()
    await scores.getByText('It is short.').waitFor()
    await scores.getByRole('link').click()
    await page.getByText('Scores the run').waitFor()
    await page.locator(`main a[href$="${bad}"]`).first().waitFor()
  })

  it('are reviewed in the queue of low ones, which shows how far the scorer agrees', async () => {
    const page = await openPage(demo, '#/runs')
    await link(page, 'Low scores').click()
    await page.getByText('1 run', { exact: true }).waitFor()
    await button(page, 'Review…').click()
    await page.getByLabel('bad').check()
    await button(page, 'Save feedback').click()
    await page.getByText('No run waits for a review').waitFor()
    const agreement = page.getByRole('row').filter({ hasText: 'judge' })
    await expect.poll(() => agreement.allTextContents(), { timeout: 20_000 }).toEqual(['judge10001unknown'])
  })

  it('of a version are a series by day', async () => {
    const { currentVersionId } = (await demo.call('GET', '/v1/agents/judged')).json
    const read = async () => (await demo.call('GET', '/v1/scores?agent=judged')).json.length
    await expect.poll(read, { timeout: 90_000 }).toBe(1)
    const page = await openPage(demo, `#/agents/judged/versions/${currentVersionId}`)
    const series = page.getByRole('figure', { name: 'Mean score of judge by day' })
    await series.getByText('Show as a table').click()
    const days = series.getByRole('row').filter({ hasText: '2 runs, 1 low, 0 without a score' })
    await expect.poll(() => days.allTextContents()).toEqual([expect.stringMatching(/0\.55$/)])
  }, 120_000)
})
