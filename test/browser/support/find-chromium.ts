import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Names of Debian's package and of others. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser of this machine: that of `CHROMIUM`, otherwise the first in `PATH`. */
export function findChromium(environment = process.env): string | undefined {
  if (environment.CHROMIUM) return environment.CHROMIUM
  const folders = (environment.PATH ?? '').split(delimiter)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}
