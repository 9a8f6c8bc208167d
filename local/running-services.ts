import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dataFolder, SERVICE_URL_FILE } from './data-folder.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** One file per running service: its package, which may share this folder, and its data folder. */
const REGISTRY = join(ROOT, 'node_modules', '.cache', 'services')

const MAX_ANSWER_MS = 1_000

/** Tells commands where a service listens. @returns how to end that */
export async function announceService(folder: string, url: string): Promise<() => Promise<void>> {
  const [urlFile, entry] = [join(folder, SERVICE_URL_FILE), join(REGISTRY, String(process.pid))]
  await writeFile(urlFile, `${url}\n`)
  // Where it cannot be written, commands do not know of the service.
  await mkdir(REGISTRY, { recursive: true })
    .then(() => writeFile(entry, `${ROOT}\n${resolve(folder)}`))
    .catch(() => undefined)
  return async () => {
    await Promise.all([urlFile, entry].map((file) => rm(file, { force: true })))
  }
}

/** The address of the service that runs on a folder, or was killed there; empty without one. */
export const readServiceUrl = (folder: string): Promise<string> => readText(join(folder, SERVICE_URL_FILE))

/**
 * The services of this package that respond, and may be meant instead of a data folder: those beside it, and all if it
 * is the default.
 */
export async function findServices(instead: string): Promise<{ folder: string; url: string }[]> {
  const isDefault = basename(instead) === dataFolder({})
  const entries = await readdir(REGISTRY).catch(() => [])
  const texts = await Promise.all(entries.map((entry) => readText(join(REGISTRY, entry))))
  const found = [...new Set(texts)].map(async (text) => {
    const [root, folder = ''] = text.split('\n')
    if (root !== ROOT) return []
    const isBeside = dirname(folder) === dirname(resolve(instead)) && folder !== resolve(instead)
    const url = isDefault || isBeside ? await readServiceUrl(folder) : ''
    return url && (await responds(url)) ? [{ folder, url }] : []
  })
  return (await Promise.all(found)).flat()
}

/** A busy service may take long. */
export const responds = (url: string): Promise<boolean> =>
  fetch(`${url}/v1/healthcheck`, { signal: AbortSignal.timeout(MAX_ANSWER_MS) }).then(
    () => true,
    ({ name }: Error) => name === 'TimeoutError',
  )

export const readText = (file: string): Promise<string> =>
  readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
