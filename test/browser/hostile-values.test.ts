import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitHidden } from '../../console/components/hidden-characters.ts'
import { hostileAnswers, withHidden } from './stub/hostile-answers.ts'
import { HIDDEN_STRINGS, HOSTILE_STRINGS } from './stub/hostile-strings.ts'
import { idOf } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import { settle } from './support/page.ts'

/** Reports dialogs, scripts that fail, requests to other hosts and violations of the policy. */
const { open } = useBrowser()
let stub: Stub
beforeAll(async () => {
  stub = await startStub(hostileAnswers)
})
afterAll(() => stub?.stop())

const RUN = `#/runs/${idOf(1_000_000)}`

/** Every page that shows what others have entered. */
const PAGES: [name: string, hash: string][] = [
  ['overview', '#/'],
  ['agents', '#/agents'],
  ['agent', '#/agents/x'],
  ['comparison', '#/agents/x/compare?before=1&after=2'],
  ['version', '#/agents/x/versions/1'],
  ['version beside the current one', '#/agents/x/versions/1/try'],
  ['try it', '#/agents/x/try'],
  ['try it again', `#/agents/x/try?from=${idOf(1_000_000)}`],
  ['runs', '#/runs'],
  ['run', RUN],
  ['approvals', '#/approvals'],
  ['approval that was decided', `#/approvals?item=${idOf(9)}.x`],
  ['batches', '#/batches'],
  ['batch', '#/batches/x'],
  ['schedules', '#/schedules?agent=x'],
  ['schedule', '#/agents/x/schedules/y'],
  ['comparison of runs', `#/compare?a=${idOf(1)}&b=${idOf(2)}`],
  ['webhooks', '#/webhooks'],
  ['webhook', `#/webhooks/x?delivery=${encodeURIComponent(HOSTILE_STRINGS[3] ?? '')}`],
  ['trials', '#/trials'],
  ['trial', '#/trials/x?verdict=CHANGED'],
  ['start of a trial', '#/trials/new?agent=x&version=1'],
  ['tokens', '#/tokens?show=all'],
  ['rollouts', '#/rollouts'],
  ['tenants', '#/tenants'],
  ['tenant', '#/tenants/x'],
  ['audit log', `#/audit?entry=${idOf(2_000_000)}`],
]

/** Elements and attributes that the console has nowhere, so that they can only come from a value. */
const FIND_INJECTED = `[...document.querySelectorAll('*')]
  .filter((element) =>
    element.matches('script:not([src^="console/"]), iframe, frame, object, embed, img, image, video, audio, base, style, meta[http-equiv], math, marquee, isindex, xss, foreignObject, animate, set') ||
    [...element.attributes].some(({ name, value }) =>
      /^on/i.test(name) || name === 'srcdoc' ||
      (/^(?:href|src|action|formaction|xlink:href)$/i.test(name) && /^\\s*(?:javascript|vbscript|data:(?!image\\/svg\\+xml,%3Csvg))/i.test(value))))
  .map((element) => element.outerHTML.slice(0, 300))`

/** Opens everything that can be opened on the page, and scrolls to its end. */
async function openAll(page: Page): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true
      for (const button of document.querySelectorAll('main button[aria-expanded=false], main .json-more')) button.click()
      window.scrollTo(0, document.body.scrollHeight)`)
    await page.waitForTimeout(50)
  }
}

const textOf = (page: Page): Promise<string> =>
  page.evaluate(
    'document.title + document.body.textContent + [...document.querySelectorAll("input, textarea, option")].map(({ value }) => value).join("")',
  )

/** As it is, or as JSON shows it; the console may shorten a long one. */
const isShown = (text: string, hostile: string) =>
  [hostile, JSON.stringify(hostile).slice(1, -1)].some((form) => text.includes(toShown(form).slice(0, 60)))

/** Characters that are not seen are shown by their names. */
const toShown = (text: string) =>
  splitHidden(text)
    .map((part) => (typeof part === 'string' ? part : part.label))
    .join('')

describe.each([
  ['with the content security policy', false],
  ['without it: only text is rendered', true],
])('200 hostile strings, %s', (_, bypassCSP) => {
  it('are enough', () => {
    expect(HOSTILE_STRINGS.filter((text) => /<|javascript:/i.test(text)).length).toBeGreaterThanOrEqual(200)
  })

  it.each(PAGES)('run no script: %s', async (_name, hash) => {
    const page = await open(`${stub.url}/console#token=x`, { bypassCSP })
    await page.goto('about:blank')
    await page.goto(`${stub.url}/console${hash}`)
    await settle(page)
    await openAll(page)
    expect(await page.evaluate(FIND_INJECTED)).toEqual([])
    const text = await textOf(page)
    expect(HOSTILE_STRINGS.filter((hostile) => isShown(text, hostile)).length).toBeGreaterThan(0)
  })

  it('run no script in the search', async () => {
    const page = await open(`${stub.url}/console#token=x`, { bypassCSP })
    await page.locator('.spinner').first().waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /^Search/ })
    for (const text of ['<', 'javascript:', 'alert', HOSTILE_STRINGS[0] ?? '', idOf(1_000_000)]) {
      await field.fill(text)
      await page.getByRole('option').first().waitFor()
      expect(await page.evaluate(FIND_INJECTED)).toEqual([])
    }
  })

  it('are all shown as text by a run', async () => {
    const page = await open(`${stub.url}/console#token=x`, { bypassCSP })
    await page.goto(`${stub.url}/console${RUN}`)
    await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
    await openAll(page)
    const text = await textOf(page)
    expect(HOSTILE_STRINGS.filter((hostile) => !isShown(text, hostile))).toEqual([])
  })

  it('run no script in the fragment of a URL', async () => {
    const page = await open(`${stub.url}/console#token=x`, { bypassCSP })
    // Each change of the fragment is another page.
    const some = HOSTILE_STRINGS.filter((text, index) => /<|javascript:/i.test(text) && index % 5 === 0)
    for (const hostile of some) {
      const encoded = encodeURIComponent(hostile.toWellFormed())
      for (const hash of [
        `#/runs?status=${encoded}&agent=${encoded}&from=${encoded}`,
        `#/${encoded}`,
        `#${hostile}`,
      ])
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
    }
    expect(await page.evaluate(FIND_INJECTED)).toEqual([])
  })

  it('run no script when the service rejects a run with them', async () => {
    const page = await open(`${stub.url}/console#token=x`, { bypassCSP })
    await page.goto(`${stub.url}/console#/agents/x/try`)
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByRole('textbox', { name: /^Input/ }).fill(JSON.stringify({ a: HOSTILE_STRINGS }))
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('alert').first().waitFor()
    await openAll(page)
    expect(await page.evaluate(FIND_INJECTED)).toEqual([])
  })
})

describe('characters that are not seen, or that change the order of others', () => {
  let hidden: Stub
  beforeAll(async () => {
    hidden = await startStub(withHidden(hostileAnswers))
  })
  afterAll(() => hidden?.stop())

  it.each(PAGES)('are shown, not obeyed: %s', async (_name, hash) => {
    const page = await open(`${hidden.url}/console#token=x`)
    await page.goto('about:blank')
    await page.goto(`${hidden.url}/console${hash}`)
    await settle(page)
    await openAll(page)
    const text: string = await page.evaluate('document.title + document.body.textContent')
    const obeyed = splitHidden(text).filter((part) => typeof part !== 'string')
    expect(obeyed).toEqual([])
    expect(text).toMatch(/U\+[\dA-F]{4}|tags: /)
  })

  it('are all shown by a run', async () => {
    const page = await open(`${hidden.url}/console#token=x`)
    await page.goto(`${hidden.url}/console${RUN}`)
    await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
    await openAll(page)
    const text: string = await page.evaluate('document.body.textContent')
    expect(HIDDEN_STRINGS.filter((each) => !isShown(text, each))).toEqual([])
  })
})
