import { type Browser, type BrowserContextOptions, type BrowserServer, chromium } from 'playwright-core'
import { findChromium } from './find-chromium.ts'

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
