import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { type PageOptions, toContextOptions } from './launch.ts'
import { settle } from './pages.ts'

/** Beyond what a page takes on a loaded machine. */
const TIMEOUT_MS = 60_000

/** What a page of the console never does. */
type Misconduct = { kind: 'dialog' | 'error' | 'foreign request' | 'policy violation'; text: string }

/**
 * Connects a test file to the browser. Its pages are closed after each test. A page that misbehaves fails its test.
 * @param others origins to which the pages may send requests beside their own
 */
export function useBrowser(others: () => string[] = () => []) {
  let browser: Browser
  const pages: Page[] = []
  const misconduct: Misconduct[] = []

  beforeAll(async () => {
    browser = await chromium.connect(inject('browser'))
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.context().close()))
    expect(misconduct.splice(0)).toEqual([])
  })

  async function newPage(url: string, options: PageOptions = {}): Promise<Page> {
    const context = await browser.newContext(toContextOptions(options))
    context.setDefaultTimeout(TIMEOUT_MS)
    const page = await context.newPage()
    pages.push(page)
    const origins = [new URL(url).origin, ...others()]
    watch(page, origins, (kind, text) => void misconduct.push({ kind, text }))
    return page
  }

  async function open(url: string, options?: PageOptions): Promise<Page> {
    const page = await newPage(url, options)
    await page.goto(url)
    return page
  }

  /** Opens a sign-in link, and uses its token. */
  async function openLink(url: string, options?: PageOptions): Promise<Page> {
    const page = await open(url, options)
    await acceptLink(page)
    return page
  }

  return {
    open,
    openLink,
    /** Loads a page of the console in a tab that is signed in, and waits until it has its data. */
    async openPage(
      { url, token = 'x' }: { url: string; token?: string },
      hash = '#/',
      options?: PageOptions,
    ) {
      const page = await newPage(url, options)
      await page.addInitScript(keepToken(token))
      await page.goto(`${url}/console${hash}`)
      await settle(page)
      return page
    },
  }
}

export const acceptLink = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Use the token of the link' }).click()

/** Loads the document again: not only the fragment changes. */
export async function loadPage(page: Page, url: string, hash: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${url}/console${hash}`)
  await settle(page)
}

/** A script that keeps the token as a tab does that has signed in, when its first page is loaded. */
const keepToken = (token: string) => `if (location.host && sessionStorage.getItem('test.isKept') === null) {
  sessionStorage.setItem('test.isKept', 'yes')
  sessionStorage.setItem('agent-execution-service.token ' + location.pathname, ${JSON.stringify(token)})
}`

function watch(
  page: Page,
  origins: string[],
  report: (kind: Misconduct['kind'], text: string) => void,
): void {
  page.on('dialog', (dialog) => {
    report('dialog', dialog.message())
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => report('error', String(error.stack ?? error)))
  page.on('request', (request) => {
    const url = request.url()
    const isOwn = origins.some((origin) => url.startsWith(`${origin}/`))
    if (!isOwn && !/^(?:data|blob|about):/.test(url)) report('foreign request', url)
  })
  page.on('console', (message) => {
    // Failed requests are logged as errors, too.
    if (/Content.Security.Policy|violates the following/i.test(message.text()))
      report('policy violation', message.text())
  })
}
