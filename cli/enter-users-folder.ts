import { resolve } from 'node:path'
import { dataFolder } from '../local/open-store.ts'

/**
 * npm runs its scripts in the package's folder: goes back to where the user stands, as paths are meant from there.
 * The data folder stays the one that `npm start` uses.
 */
export function enterUsersFolder(environment: NodeJS.ProcessEnv = process.env): void {
  if (environment.npm_lifecycle_event !== 'agents' || !environment.INIT_CWD) return
  environment.DATA_DIR = resolve(dataFolder(environment))
  process.chdir(environment.INIT_CWD)
}
