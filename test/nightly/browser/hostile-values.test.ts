import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostileAnswers, withHidden } from '../../browser/stub/hostile-answers.ts'
import { HIDDEN_STRINGS, HOSTILE_STRINGS } from '../../browser/stub/hostile-strings.ts'
import { idOf } from '../../browser/stub/records.ts'
import { type Stub, startStub } from '../../browser/stub/start-stub.ts'
import { useBrowser } from '../../browser/support/browser.ts'
import {
  findHidden,
  findInjected,
  HOSTILE_IDS,
  HOSTILE_STATES,
  isShown,
  openAll,
  shownText,
} from '../../browser/support/page-checks.ts'
import { addressOf, PAGES } from '../../browser/support/pages.ts'

/** Reports dialogs, scripts that fail, requests to other hosts and violations of the policy. */
const { openPage } = useBrowser()
let stub: Stub
let hidden: Stub
beforeAll(async () => {
  stub = await startStub(hostileAnswers)
  hidden = await startStub(withHidden(hostileAnswers))
})
afterAll(() => Promise.all([stub?.stop(), hidden?.stop()]))

const RUN = `#/runs/${HOSTILE_IDS.run}`
/** Every page that shows what others have entered. */
const ROWS = [...PAGES, ...HOSTILE_STATES].map(
  ([name, hash]) => [name, addressOf(hash, HOSTILE_IDS)] as const,
)

describe.each([
  ['with the content security policy', false],
  ['without it: only text is rendered', true],
])('hostile strings, %s', (_, bypassCSP) => {
  it('number at least 200', () => {
    expect(HOSTILE_STRINGS.filter((text) => /<|javascript:/i.test(text)).length).toBeGreaterThanOrEqual(200)
  })

  it.each(ROWS)('run no script: %s', async (_name, hash) => {
    const page = await openPage(stub, hash, { bypassCSP })
    await openAll(page)
    expect(await findInjected(page)).toEqual([])
    const text = await shownText(page)
    const shown = HOSTILE_STRINGS.filter((hostile) => isShown(text, hostile))
    expect(shown.length).toBeGreaterThan(0)
    if (hash === RUN) expect(shown).toEqual(HOSTILE_STRINGS)
  })

  it('run no script in the search', async () => {
    const page = await openPage(stub, '#/', { bypassCSP })
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: /^Search/ })
    for (const text of ['<', 'javascript:', 'alert', HOSTILE_STRINGS[0] ?? '', idOf(1_000_000)]) {
      await field.fill(text)
      await page.getByRole('option').first().waitFor()
      expect(await findInjected(page)).toEqual([])
    }
  })

  it('run no script in the fragment of a URL', async () => {
    const page = await openPage(stub, '#/', { bypassCSP })
    // Each change of the fragment is another page.
    const some = HOSTILE_STRINGS.filter((text, index) => /<|javascript:/i.test(text) && index % 5 === 0)
    for (const hostile of some) {
      const encoded = encodeURIComponent(hostile.toWellFormed())
      const query = `status=${encoded}&agent=${encoded}&from=${encoded}`
      for (const hash of [`#/runs?${query}`, `#/${encoded}`, `#${hostile}`])
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
    }
    expect(await findInjected(page)).toEqual([])
  })

  it('run no script when the service rejects a run with them', async () => {
    const page = await openPage(stub, '#/agents/x/try', { bypassCSP })
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByRole('textbox', { name: /^Input/ }).fill(JSON.stringify({ a: HOSTILE_STRINGS }))
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('alert').first().waitFor()
    await openAll(page)
    expect(await findInjected(page)).toEqual([])
  })
})

describe('characters that are not seen, or that change the order of others', () => {
  it.each(ROWS)('are shown, not obeyed: %s', async (_name, hash) => {
    const page = await openPage(hidden, hash)
    await openAll(page)
    const read = (): Promise<string> => page.evaluate('document.title + document.body.textContent')
    // The names of agents come after the rest of a page.
    await expect.poll(read).toMatch(/U\+[\dA-F]{4}|tags: /)
    expect(await findHidden(page)).toEqual([])
    const text = await read()
    if (hash === RUN) expect(HIDDEN_STRINGS.filter((each) => !isShown(text, each))).toEqual([])
  })
})
