import { existsSync } from 'node:fs'
import { DYNAMODB_ENDPOINT } from '../../lib/environment.ts'
import { dataFolder } from '../../local/data-folder.ts'
import { findServices } from '../../local/running-services.ts'
import { UserError } from '../errors.ts'
import { shellQuote } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { confirm } from '../prompt.ts'

/**
 * Asks before a data folder is created while a service runs on another one, which may be meant.
 * @throws UserError without a terminal, and if the answer is no
 */
export async function confirmDataFolder(options: SharedOptions): Promise<void> {
  const folder = dataFolder()
  if (options.stack || options.createDataFolder || process.env[DYNAMODB_ENDPOINT] || existsSync(folder))
    return
  const services = await describeServices(folder)
  if (services.length === 0) return
  const details = [`There is no data folder ${folder}.`, ...services].join('\n')
  if (!(await confirm('Create it?', details, '--create-data-folder')))
    throw new UserError('Nothing was created.')
  options.createDataFolder = true
}

export const describeServices = async (instead: string): Promise<string[]> =>
  (await findServices(instead)).map(
    ({ folder, url }) =>
      `The service at ${url} runs on ${folder}. To use it, set DATA_DIR=${shellQuote(folder)}`,
  )
