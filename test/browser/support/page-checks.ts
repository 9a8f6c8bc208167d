import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { splitHidden } from '../../../console/components/hidden-characters.ts'
import { HOSTILE_STRINGS } from '../stub/hostile-strings.ts'
import { idOf } from '../stub/records.ts'
import { type Ids, STUB_IDS } from './pages.ts'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Rules that depend on colors (https://github.com/dequelabs/axe-core/blob/develop/doc/rule-descriptions.md). */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** Accessibility violations of the page as it is, each with the elements that it concerns. */
async function findViolations(page: Page, rules?: string[]): Promise<string[]> {
  // Evaluated through the debugger, to which the content security policy does not apply.
  await page.evaluate(source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  )
}

/** Accessibility violations in the light theme, and those of the colors of the dark one. The page ends up light. */
export async function findViolationsInThemes(page: Page): Promise<string[]> {
  const light = await findViolations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findViolations(page, COLOR_RULES)
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((violation) => `dark: ${violation}`)]
}

/**
 * Runs in the page: texts, buttons and fields of which a part is left or right of what can be seen or scrolled to.
 * A text that ends with an ellipsis is not meant if its whole text is in a `title`.
 */
const FIND = `(() => {
  const MAX_PX = 1.5
  const found = []
  const isScrollable = ({ overflowX }) => overflowX === 'auto' || overflowX === 'scroll'
  const isHidden = (element) => element.closest('.visually-hidden, [hidden], .skip-link, dialog:not([open])') !== null
  // Under an open dialog, the page cannot be used.
  const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body
  function check(element, rect, text) {
    if (rect.width === 0 || rect.height === 0) return
    for (let parent = element; parent; parent = parent.parentElement) {
      const style = getComputedStyle(parent)
      // Only for screen readers.
      if (isScrollable(style) || style.clipPath === 'inset(50%)') return
      if (style.overflowX === 'visible' && parent !== document.documentElement) continue
      const clip = parent === document.documentElement ? { left: 0, right: innerWidth } : parent.getBoundingClientRect()
      if (rect.right <= clip.right + MAX_PX && rect.left >= clip.left - MAX_PX) continue
      if (style.textOverflow === 'ellipsis' && parent.closest('[title]')) return
      found.push(text.trim().slice(0, 60) + ' (' + parent.tagName + '.' + parent.className + ')')
      return
    }
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.data.trim() === '' || isHidden(node.parentElement)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) check(node.parentElement, rect, node.data)
  }
  for (const field of root.querySelectorAll('button, input, select, textarea, a')) {
    if (isHidden(field)) continue
    if (field.tagName === 'INPUT' && field.type === 'hidden') continue
    check(field.parentElement, field.getBoundingClientRect(), field.tagName + ' ' + (field.textContent || field.name || field.id))
  }
  for (const cell of root.querySelectorAll('th')) {
    const isShown = cell.closest('table').getClientRects().length > 0 && !isHidden(cell)
    if (isShown && cell.getClientRects().length === 0) found.push('column ' + cell.textContent)
  }
  return [...new Set(found)]
})()`

/** What of the page nobody can see whole, as texts with what cuts them off; columns that are not shown. */
export const findCutOff = (page: Page): Promise<string[]> => page.evaluate(FIND)

/** The identifiers of `hostileAnswers`, which has its own where the address asks for them. */
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

/** The characters of the page and its title that are not seen, or that change the order of others. */
export async function findHidden(page: Page): Promise<unknown[]> {
  const text: string = await page.evaluate('document.title + document.body.textContent')
  return splitHidden(text).filter((part) => typeof part !== 'string')
}

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
