import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/components.css'
import './styles/docs.css'
import { render } from 'preact'
import { App } from './app/app.tsx'
import { serveChecks } from './schema/run-check.ts'
import { readSignInLink, startRouter } from './state/location.ts'
import { startSession } from './state/session.ts'

// The same file is the script of the worker that checks large texts, which has no document.
if (typeof document === 'undefined') serveChecks()
else start()

function start(): void {
  // Before anything else: the link of `npm start` contains a token, which must not stay in the address bar.
  readSignInLink()
  startSession()
  startRouter()
  const root = document.getElementById('app')
  if (root) render(<App />, root)
}
