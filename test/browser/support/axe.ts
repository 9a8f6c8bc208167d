import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Those that depend on colors (https://github.com/dequelabs/axe-core/blob/develop/doc/rule-descriptions.md). */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** Accessibility violations of the page as it is, each with the elements that it concerns. */
export async function findViolations(page: Page, rules?: string[]): Promise<string[]> {
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
