import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, type BrowserServer, chromium } from 'playwright-core'

export type PageOptions = {
  theme?: 'light' | 'dark'
  /** The width of a phone. */
  isPhone?: boolean
  /** Of the window, unless it is that of a phone. */
  size?: { width: number; height: number }
  /** A script that was inserted into the page would run. */
  bypassCSP?: boolean
  /** The page runs no script. */
  hasNoScript?: boolean
}

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

/** Without the sandbox, which containers and the root user do not have; the pages are our own. */
const options = () => ({ executablePath: findChromium() ?? 'chromium', args: ['--no-sandbox'] })

export const launch = (): Promise<Browser> => chromium.launch(options())

/** A browser for several processes. */
export const launchServer = (): Promise<BrowserServer> => chromium.launchServer(options())

export function toContextOptions({
  theme,
  isPhone,
  size = DESKTOP,
  bypassCSP,
  hasNoScript,
}: PageOptions): BrowserContextOptions {
  return {
    viewport: isPhone ? PHONE : size,
    colorScheme: theme ?? 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...(isPhone && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
    ...(bypassCSP && { bypassCSP }),
    ...(hasNoScript && { javaScriptEnabled: false }),
  }
}

/** Names of Debian's package and of others. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser of this machine: that of `CHROMIUM`, otherwise the first in `PATH`. */
export function findChromium(environment = process.env): string | undefined {
  if (environment.CHROMIUM) return environment.CHROMIUM
  const folders = (environment.PATH ?? '').split(delimiter)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}
