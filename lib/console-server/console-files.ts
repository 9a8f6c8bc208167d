import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** The one document of the console. Its name is not a URL. */
export const PAGE = 'index.html'

/** Content codings of the compressed files, in order of preference. The names of these files end with them. */
export const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

export type ConsoleFile = {
  type: string
  etag: string
  content: Buffer
  compressed: Record<Encoding, Buffer>
  /** The name contains a hash of the content, so that caches may keep the file. */
  isImmutable: boolean
  /** Origins to which the page may send requests beside its own. */
  connectsTo?: string[]
}

/** All files are text: API Gateway can then buffer responses without base64. */
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Reads the files that `buildConsole` wrote.
 * @throws an Error for a file of another kind
 */
export function openConsoleFiles(folder: string): Map<string, ConsoleFile> {
  const names = readdirSync(folder).filter(
    (name) => !ENCODINGS.some((encoding) => name.endsWith(`.${encoding}`)),
  )
  return new Map(names.map((name) => [name, readConsoleFile(join(folder, name), name)]))
}

function readConsoleFile(path: string, name: string): ConsoleFile {
  const type = TYPES[extname(name)]
  if (!type)
    throw new Error(`The console cannot serve ${name}: its type must be one of ${Object.keys(TYPES)}.`)
  const file = { type, isImmutable: !name.endsWith('.html') }
  // The name identifies its content.
  if (name.endsWith('.svg')) return { ...file, etag: `W/"${name}"`, ...readLater(path) }
  const content = readFileSync(path)
  return {
    ...file,
    etag: etagOf(content),
    content,
    compressed: { br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gzip`) },
  }
}

/** Weak, because the compressed forms have other bytes. */
export function etagOf(content: Buffer): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16)
  return `W/"${hash}"`
}

/** A start does not wait for pictures, which few people look at: they are read each time. */
const readLater = (path: string): Pick<ConsoleFile, 'content' | 'compressed'> => ({
  get content() {
    return readFileSync(path)
  },
  compressed: {
    get br() {
      return readFileSync(`${path}.br`)
    },
    get gzip() {
      return readFileSync(`${path}.gzip`)
    },
  },
})
