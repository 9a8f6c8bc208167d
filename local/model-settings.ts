import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_MODEL, type Environment, MODEL_PRICES } from '../lib/environment.ts'
import { getPublicVariables } from '../lib/models/providers/providers.ts'

/** Variables that select models, their prices and limits. API keys are not among them: they are never written to disk. */
const NAMES = [DEFAULT_MODEL, MODEL_PRICES, ...getPublicVariables()]

const fileOf = (folder: string) => join(folder, 'model-settings.json')

/** Saves the model settings of the service in the data folder, so that `agents run` uses the same models. */
export async function saveModelSettings(folder: string, environment: Environment): Promise<void> {
  const settings = NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))
  // A base URL may contain a password.
  await writeFile(fileOf(folder), JSON.stringify(Object.fromEntries(settings)), { mode: 0o600 })
}

/** Sets the variables that the environment does not have to the values of the last start of the service. */
export async function applyModelSettings(folder: string, environment: Environment): Promise<void> {
  const settings = await readFile(fileOf(folder), 'utf8')
    .then((text) => JSON.parse(text) as Environment)
    .catch((): Environment => ({}))
  for (const name of NAMES) if (!environment[name] && settings[name]) environment[name] = settings[name]
}
