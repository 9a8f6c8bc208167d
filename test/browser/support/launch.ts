import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
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

/** In which every page is checked: the name and the options of each. */
export const WINDOWS = [
  ['in a wide window', { size: { width: 1400, height: 900 } }],
  ['on a phone', { isPhone: true }],
] as const

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

/** Without the sandbox, which containers and the root user do not have; the pages are our own. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium() ?? 'chromium', args: ['--no-sandbox'] })

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
