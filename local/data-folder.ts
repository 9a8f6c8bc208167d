import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { tryParseJson } from '../lib/core/json/json.ts'
import { type Environment, variableOf } from '../lib/environment.ts'
import { getPublicVariables } from '../lib/models/providers/provider-settings.ts'

/** Where the service keeps its data. */
export const dataFolder = (environment: Environment = process.env): string => environment.DATA_DIR || '.local'

const MODE = 0o700

/** In the data folder: the token that `npm start` has created, and the address at which it listens while it runs. */
export const DEV_TOKEN_FILE = 'dev-token'
export const SERVICE_URL_FILE = 'service-url'
/** The secret that signs requests to remote agents. */
export const WEBHOOK_SECRET_FILE = 'webhook-secret'

/** One of these is in every data folder. */
const OWN_FILES = ['compile-cache', 'dynalite', 'dynoxide.sqlite']

/**
 * Creates the data folder, which only its owner can open, as is an older one then. A folder with other files, such as
 * /tmp, keeps its mode.
 * @throws an Error that names the folder
 */
export async function createDataFolder(folder: string): Promise<void> {
  try {
    await createFolder(resolve(folder))
    const [{ uid }, files] = await Promise.all([stat(folder), readdir(folder)])
    const isOwn = files.length === 0 || OWN_FILES.some((file) => files.includes(file))
    if (uid === process.getuid?.() && isOwn) await chmod(folder, MODE)
  } catch (error) {
    throw cannotWrite(folder, error as Error)
  }
}

/** With `recursive`, Node tries forever in a folder that refuses with ENOENT, as /proc does. */
async function createFolder(path: string): Promise<void> {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) await createFolder(parent)
  await mkdir(path, { mode: MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

export const cannotWrite = (folder: string, cause: Error): Error =>
  new Error(`Cannot write the data folder ${folder} (DATA_DIR): ${cause.message}`, { cause })

/** The JSON object in a file; an empty one if the file is missing or invalid. */
export async function readState<T>(file: string): Promise<Record<string, T>> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return (tryParseJson(text) ?? {}) as Record<string, T>
}

/** Variables that select models, their prices and limits. API keys are left out: they are never written to disk. */
const MODEL_SETTINGS = ['defaultModel', 'embeddingModel', 'modelPrices', 'modelEndpoints'] as const
const NAMES = [...MODEL_SETTINGS.map(variableOf), ...getPublicVariables()]

const modelSettingsFile = (folder: string) => join(folder, 'model-settings.json')

/** Saves the model settings of the service in the data folder, so that `agents run` uses the same models. */
export async function saveModelSettings(folder: string, environment: Environment): Promise<void> {
  const settings = NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))
  // A base URL may contain a password.
  await writeFile(modelSettingsFile(folder), JSON.stringify(Object.fromEntries(settings)), { mode: 0o600 })
}

/** Sets the variables that the environment does not have to the values of the last start of the service. */
export async function applyModelSettings(environment: Environment = process.env): Promise<void> {
  const settings = await readState<string>(modelSettingsFile(dataFolder(environment)))
  for (const name of NAMES) if (!environment[name] && settings[name]) environment[name] = settings[name]
}
