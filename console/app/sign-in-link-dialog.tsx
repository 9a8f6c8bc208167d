import { ConfirmDialog } from '../run/actions/confirm-dialog.tsx'
import { credentials, offeredToken } from '../state/credentials.ts'

/** Asks before a link replaces the token in use: pages of others can contain links to the console. */
export function SignInLinkDialog({ token }: { token: string }) {
  const keep = () => offeredToken.set(null)
  async function replace() {
    keep()
    credentials.set({ token, rejection: null })
  }
  return (
    <ConfirmDialog
      title="Sign in with another token?"
      label="Use the token of the link"
      keepLabel="Keep my token"
      action={replace}
      onClose={keep}
    >
      <p>
        The link that you opened contains a token. Keep yours unless you know who made the link: its owner
        could see what you enter.
      </p>
    </ConfirmDialog>
  )
}
