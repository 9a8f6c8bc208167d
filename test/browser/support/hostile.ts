import type { Page } from 'playwright-core'
import { splitHidden } from '../../../console/components/hidden-characters.ts'
import { HOSTILE_STRINGS } from '../stub/hostile-strings.ts'
import { idOf } from '../stub/records.ts'
import { type Ids, STUB_IDS } from './pages.ts'

/** Of `hostileAnswers`, which have identifiers of their own where the address asks for them. */
export const HOSTILE_IDS: Ids = { ...STUB_IDS, agent: 'x', version: '1' }

/** Further states of pages. */
export const HOSTILE_STATES: [name: string, hash: string][] = [
  ['approval that was decided', `#/approvals?item=${idOf(9)}.x`],
  ['delivery', `#/webhooks/x?delivery=${encodeURIComponent(HOSTILE_STRINGS[3] ?? '')}`],
  ['changed runs of a trial', `#/trials/${STUB_IDS.trial}?verdict=CHANGED`],
  ['entry of the audit log', `#/audit?entry=${idOf(2_000_000)}`],
]

/** Elements and attributes that the console has nowhere, so that they can only come from a value. */
const FIND_INJECTED = `[...document.querySelectorAll('*')]
  .filter((element) =>
    element.matches('script:not([src^="console/"]), iframe, frame, object, embed, img, image, video, audio, base, style, meta[http-equiv], math, marquee, isindex, xss, foreignObject, animate, set') ||
    [...element.attributes].some(({ name, value }) =>
      /^on/i.test(name) || name === 'srcdoc' ||
      (/^(?:href|src|action|formaction|xlink:href)$/i.test(name) && /^\\s*(?:javascript|vbscript|data:(?!image\\/svg\\+xml,%3Csvg))/i.test(value))))
  .map((element) => element.outerHTML.slice(0, 300))`

export const findInjected = (page: Page): Promise<string[]> => page.evaluate(FIND_INJECTED)

/** Opens everything that can be opened on the page, and scrolls to its end. */
export async function openAll(page: Page): Promise<void> {
  for (let round = 0; round < 4; round++)
    await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true
      for (const button of document.querySelectorAll('main button[aria-expanded=false], main .json-more')) button.click()
      window.scrollTo(0, document.body.scrollHeight)
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`)
}

/** Everything that the page shows, the title and the values of its fields included. */
export const shownText = (page: Page): Promise<string> =>
  page.evaluate(
    'document.title + document.body.textContent + [...document.querySelectorAll("input, textarea, option")].map(({ value }) => value).join("")',
  )

/** As it is, or as JSON shows it; the console may shorten a long one. */
export const isShown = (text: string, hostile: string) =>
  [hostile, JSON.stringify(hostile).slice(1, -1)].some((form) => text.includes(toShown(form).slice(0, 60)))

/** Characters that are not seen are shown by their names. */
const toShown = (text: string) =>
  splitHidden(text)
    .map((part) => (typeof part === 'string' ? part : part.label))
    .join('')
