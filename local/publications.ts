import { realpath, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDataFolder, dataFolder, readState } from './data-folder.ts'

/**
 * What was last published from a folder into the development organization, as a draft or not. `digest`: of that
 * version. `sources`, the source files outside the folder, and `sourceHash` are known after a start of the service.
 */
export type Publication = { slug: string; digest: string; sources?: string[]; sourceHash?: string }

/** In the data folder: the publications by the real path of their folder. */
export const PUBLICATIONS_FILE = 'published.json'

/** Empty if the file is missing or invalid: then every folder is checked. */
export const readPublications = (file: string) => readState<Publication>(file)

/** Replaces the publications of these folders, and keeps those of others, which another process may have added. */
export async function savePublications(file: string, changed: [string, Publication][]): Promise<void> {
  const state = { ...(await readPublications(file)), ...Object.fromEntries(changed) }
  const written = `${file}.${process.pid}`
  await writeFile(written, JSON.stringify(state), { mode: 0o600 })
  await rename(written, file)
}

/** Notes that a command has published a folder, so that the next start of the service does not publish it again. */
export async function notePublication(folder: string, publication: Publication): Promise<void> {
  await createDataFolder(dataFolder())
  await savePublications(join(dataFolder(), PUBLICATIONS_FILE), [[await realpath(folder), publication]])
}
