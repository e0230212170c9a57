/** @jsxImportSource preact */
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { EmptyState } from '../../empty-state.tsx';
import type { AdminPage } from '../../route.ts';
import { AuditPage } from './audit-page.tsx';
import { ChatsPage } from './chats-page.tsx';
import { OverviewPage } from './overview-page.tsx';
import { PeoplePage } from './people-page.tsx';
import { ServicePage } from './service-page.tsx';
import { StoragePage } from './storage-page.tsx';

const pages = {
  overview: OverviewPage,
  people: PeoplePage,
  storage: StoragePage,
  chats: ChatsPage,
  audit: AuditPage,
  service: ServicePage,
} as const;

interface AdminViewProps {
  readonly page: AdminPage;
  readonly query: string;
}

/** A page of administration. The server refuses its calls to anybody else. */
export function AdminView({ page, query }: AdminViewProps) {
  const { store } = useSession();
  if (!store.me.is_admin) {
    return (
      <EmptyState icon="people" level={1} title={adminText.onlyAdmins}>
        {adminText.onlyAdminsHint}
      </EmptyState>
    );
  }
  const Page = pages[page];
  return <Page key={page} query={query} />;
}
