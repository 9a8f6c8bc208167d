import { fileURLToPath } from 'node:url'
import { openConsoleFiles, PAGE } from '../lib/console-server/console-files.ts'
import { toFileResponse } from '../lib/console-server/file-response.ts'
import { addSignIn } from '../lib/console-server/sign-in-settings.ts'
import { RouteNotFound } from '../lib/core/request-errors.ts'
import { CONSOLE_FOLDER } from '../lib/environment.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const files = openConsoleFiles(
  process.env[CONSOLE_FOLDER] ?? fileURLToPath(new URL('console', import.meta.url)),
)

const page = files.get(PAGE)
if (page) files.set(PAGE, addSignIn(page, process.env))

/** URLs in the page are relative to `/console` without a slash at its end: other paths of the page redirect to it. */
async function serveConsole({ event, basePath, path }: Request<'serve-console'>) {
  const { resource, pathParameters } = event
  if (pathParameters?.file) return toFileResponse(findFile(pathParameters.file), event)
  if (resource === '/console' && !path.endsWith('/')) return toFileResponse(findFile(PAGE, true), event)
  // A path that begins with two slashes would be the URL of another host.
  const location = `${basePath}/console`.replace(/^\/+/, '/')
  return { status: 302, headers: { Location: location, 'Cache-Control': 'no-cache' } }
}

function findFile(name: string, isPage = false) {
  const file = files.get(name)
  if (!file || (name === PAGE && !isPage)) throw new RouteNotFound()
  return file
}

export const handler = endpoint('serve-console', serveConsole)
