// Signing in to the dashboard of a cluster, in a real browser.
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grant, makePerson, ServiceAccount } from '../dashboard/people.ts';
import { openDashboardShop } from '../dashboard/shop.ts';
import type { DashboardShop } from '../dashboard/shop.ts';
import { describeRequiring } from '../support/requirements.ts';
import { browserRequirement, startBrowser } from './chromium.ts';
import { visitsTo } from './visit.ts';

const ROLE = 'offshoot-dashboard-viewer';

describeRequiring('signing in with a browser', [browserRequirement], () => {
  let browser: Browser;
  let shop: DashboardShop;
  let jane: string;
  let joe: string;
  const { open } = visitsTo(() => ({ browser, url: shop.url }));

  beforeAll(async () => {
    [browser, shop] = await Promise.all([startBrowser(), openDashboardShop({ isForMany: true })]);
    await shop.environment('pr-7');
    jane = await makePerson(shop.client, 'jane', 'shop');
    joe = await makePerson(shop.client, 'joe', 'shop');
    await grant(shop.client, { name: 'jane', namespace: 'shop' }, 'cluster-admin');
    await shop.untilState('pr-7', 'ready');
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
  });
  async function signIn(page: Page, token: string): Promise<void> {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test('a token leads to the requested page; signing out ends the session in all tabs', async () => {
    const page = await open('/environments/shop/pr-7');
    await page.getByText('Sign in with a token of the cluster').waitFor();
    expect(await page.locator('nav').count()).toBe(0);
    await signIn(page, 'nonsense');
    await page.getByRole('alert').getByText('the API server does not know this token').waitFor();
    await signIn(page, jane);
    await page.getByText('Requests with x-env: pr-7 reach reviews:2').waitFor();
    await page.locator('.node.clone').waitFor();
    await page.locator('header').getByText('jane').waitFor();
    expect(page.url()).not.toContain(jane.slice(0, 20));
    expect(await page.evaluate(() => document.cookie)).toBe('');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'offshoot-session', httpOnly: true, sameSite: 'Strict' });
    // The session survives a reload, and ends with the sign-out.
    await page.reload();
    await page.getByText('Requests with x-env: pr-7 reach reviews:2').waitFor();
    const other = await page.context().newPage();
    await other.goto(shop.url);
    await other.getByRole('row').filter({ hasText: 'shop/pr-7' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) await tab.getByText('You have signed out.').waitFor();
    expect(await other.getByText('pr-7').count()).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
    await page.goto(shop.url);
    await page.getByLabel('Token').waitFor();
    expect(await page.getByText('pr-7').count()).toBe(0);
  });

  test('a user without any permission is told so, and how to get a role', async () => {
    const page = await open('/');
    await signIn(page, joe);
    await page.getByText('There is no environment that you may read.').waitFor();
    await page.getByText(`--clusterrole ${ROLE} --user system:serviceaccount:shop:joe`).waitFor();
    await page.getByRole('link', { name: 'Plan', exact: true }).click();
    await page.getByLabel('Name').fill('his');
    await page.getByLabel('Deployment').fill('shop/cart');
    await page.getByLabel('Image').fill('cart:9');
    await page.getByRole('alert').getByText('you may not read deployments in namespace shop').waitFor();
    expect(await page.getByRole('button', { name: /^Create it/ }).count()).toBe(0);
  });

  test('a session that ends while the page is open leads back to the sign-in form', async () => {
    const token = await makePerson(shop.client, 'brief', 'shop');
    await grant(shop.client, { name: 'brief', namespace: 'shop' }, 'cluster-admin');
    const page = await open('/');
    await signIn(page, token);
    await page.getByRole('row').filter({ hasText: 'shop/pr-7' }).waitFor();
    await shop.client.delete(ServiceAccount, { name: 'brief', namespace: 'shop' });
    await page.getByText('Sign in with a token of the cluster').waitFor();
    await page.getByText('the API server does not know this token').waitFor();
    expect(await page.getByText('pr-7').count()).toBe(0);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('every page is accessible: %s at %i px', async (colorScheme, width) => {
    const page = await open('/', { colorScheme, viewport: { width, height: 780 } });
    const check = async (name: string): Promise<void> => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const folder = process.env['OFFSHOOT_SCREENSHOTS'];
      if (folder) await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png`, fullPage: true });
    };
    await page.getByLabel('Token').waitFor();
    await check('sign-in');
    await signIn(page, 'nonsense');
    await page.getByRole('alert').waitFor();
    await check('sign-in-refused');
    await signIn(page, joe);
    await page.getByText('There is no environment that you may read.').waitFor();
    await check('nothing-to-read');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, jane);
    await page.getByRole('row').filter({ hasText: 'shop/pr-7' }).waitFor();
    await check('signed-in');
  });
});
